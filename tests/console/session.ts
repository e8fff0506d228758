import type { PrivateKeyAccount } from "viem/accounts";

/** An answer of one of the console's routes. */
export interface Answer<Data = never> {
  readonly status: number;
  readonly code: string | null;
  readonly error: string | undefined;
  readonly data: Data;
  readonly headers: Headers;
}

/** A browser as far as the console's routes can tell: keeps the cookie, sends what a page sends. */
export class Visitor {
  cookie = "";

  constructor(readonly origin: string) {}

  /** Asks a route. @param headers - in place of those a page of the console sends */
  async ask<Data = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = { origin: this.origin, "x-causeway-console": "1" },
  ): Promise<Answer<Data>> {
    const response = await fetch(`${this.origin}/console/api${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(this.cookie !== "" && { cookie: this.cookie }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const set = response.headers.get("set-cookie");
    if (set !== null) this.cookie = set.split(";")[0] ?? "";
    const answer = (await response.json()) as { data: Data; error?: string };
    return {
      status: response.status,
      code: response.headers.get("x-error-code"),
      error: answer.error,
      data: answer.data,
      headers: response.headers,
    };
  }

  /** Signs in with a wallet. */
  async signIn(account: PrivateKeyAccount, extra: object = {}, chainId = 1) {
    const { address } = account;
    const asked = await this.ask<{ nonce: string; message: string }>("POST", "/sign-in/challenge", {
      address,
      chainId,
    });
    const signature = await account.signMessage({ message: asked.data.message });
    return this.ask("POST", "/sign-in/wallet", { nonce: asked.data.nonce, signature, ...extra });
  }

  /** Signs in as the operator. */
  signInAsOperator(token = "test-admin-token") {
    return this.ask("POST", "/sign-in/operator", { token });
  }
}
