import { useCallback, useEffect, useState } from "preact/hooks";
import type { SessionView } from "../views.ts";
import { ask, whenSignedOut } from "./api.ts";
import { Shell } from "./shell.tsx";
import { SignInPage } from "./pages/signIn.tsx";
import { SessionContext } from "./session.ts";
import { Failure, Skeleton } from "./ui/states.tsx";

/** The whole page: the way in, or the console of who is signed in. */
export function App() {
  const [session, setSession] = useState<SessionView>();
  const [error, setError] = useState<unknown>();
  const [secrets, setSecrets] = useState<ReadonlyMap<string, string>>(new Map());

  const load = useCallback(async () => {
    setError(undefined);
    try {
      setSession(await ask<SessionView>("/session"));
    } catch (failure) {
      setError(failure);
    }
  }, []);
  useEffect(() => {
    whenSignedOut(() => {
      setSecrets(new Map());
      void load();
    });
    void load();
  }, [load]);

  if (error !== undefined) {
    return (
      <main class="alone">
        <Failure error={error} retry={() => void load()} />
      </main>
    );
  }
  if (!session) {
    return (
      <main class="alone">
        <Skeleton lines={4} />
      </main>
    );
  }
  const { role, bounds } = session;
  if (!role || !bounds) return <SignInPage signUp={session.signUp} onSignedIn={setSession} />;
  const signedIn = {
    session: { ...session, role, bounds },
    secrets,
    keepSecret: (label: string, secret: string) =>
      setSecrets((before) => new Map(before).set(label, secret)),
    signOut: async () => {
      await ask("/sign-out", "POST");
      setSecrets(new Map());
      location.hash = "";
      await load();
    },
  };
  return (
    <SessionContext.Provider value={signedIn}>
      <Shell />
    </SessionContext.Provider>
  );
}
