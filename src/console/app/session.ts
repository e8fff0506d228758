import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SessionView } from "../views.ts";

/** Who is signed in, for every part of the page. */
export interface SignedIn {
  readonly session: SessionView & Required<Pick<SessionView, "role" | "bounds">>;
  /** Secrets made while the page is open, for trying them out; they are kept nowhere else. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly keepSecret: (label: string, secret: string) => void;
  readonly signOut: () => Promise<void>;
}

export const SessionContext = createContext<SignedIn | undefined>(undefined);

/** @throws Error outside of a signed-in page */
export function useSession(): SignedIn {
  const signedIn = useContext(SessionContext);
  if (!signedIn) throw new Error("nobody is signed in");
  return signedIn;
}
