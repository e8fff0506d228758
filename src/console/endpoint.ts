import type { StoredAccount } from "../db/index.ts";

/** Who is signed in. */
export type Identity =
  { readonly role: "operator" } | { readonly role: "developer"; readonly account: StoredAccount };

/** How an identity is named in the audit log. */
export function actorOf(identity: Identity): string {
  return identity.role === "operator" ? "operator" : identity.account.id;
}

/** A request to the console, after it was found out who makes it. */
export interface Call {
  readonly request: Request;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined: nobody is signed in. */
  readonly identity: Identity | undefined;
  /** Address of the caller; undefined when it cannot be told. */
  readonly address: string | undefined;
  /** Whether the caller's own connection is encrypted. */
  readonly isHttps: boolean;
}

/** A call by somebody who is signed in. */
export type SignedInCall = Call & { readonly identity: Identity };

interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/console/api`; `:name` stands for one segment. */
  readonly path: string;
}

/** One JSON route of the console: what is answered becomes `data`, a `Response` goes as it is. */
export type Endpoint = Route &
  (
    | { readonly access: "anyone"; readonly answer: (call: Call) => unknown }
    | {
        readonly access: "signed-in" | "operator";
        readonly answer: (call: SignedInCall) => unknown;
      }
  );
