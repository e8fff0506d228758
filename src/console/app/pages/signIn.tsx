import { useState } from "preact/hooks";
import type { SessionView } from "../../views.ts";
import { ask, messageOf } from "../api.ts";
import { useLocation } from "../router.ts";
import { Field } from "../ui/parts.tsx";
import { signInWith, useWallets, type Wallet } from "../wallet.ts";

const leads = {
  open: "Sign in with your wallet. A new wallet gets an account at once.",
  invitation: "Sign in with your wallet. For a new account you need an invitation.",
  off: "Sign in with your wallet. New accounts are made by the operator only.",
} as const;

/** The way in: developers with a wallet, the operator with the admin token. */
export function SignInPage(props: {
  signUp: SessionView["signUp"];
  onSignedIn: (session: SessionView) => void;
}) {
  const { page, argument } = useLocation();
  const [invitation, setInvitation] = useState(page === "invite" ? (argument ?? "") : "");
  const [step, setStep] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);

  const enter = async (signIn: () => Promise<SessionView>) => {
    setBusy(true);
    setError(undefined);
    try {
      const session = await signIn();
      location.hash = "#/overview";
      props.onSignedIn(session);
    } catch (failure) {
      setError(failure);
      setStep("");
      setBusy(false);
    }
  };

  return (
    <main class="alone">
      <div class="card">
        <p class="brand">
          <span class="mark" aria-hidden="true" />
          Causeway
        </p>
        <h1>Developer console</h1>
        <p class="lead">{leads[props.signUp]}</p>
        {props.signUp === "invitation" && (
          <Field label="Invitation" hint="Only for a new account.">
            {(id, hintId) => (
              <input
                id={id}
                aria-describedby={hintId}
                value={invitation}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setInvitation(event.currentTarget.value.trim())}
              />
            )}
          </Field>
        )}
        <WalletList
          isBusy={isBusy}
          onChoose={(wallet) => void enter(() => signInWith(wallet, invitation, setStep))}
        />
        <p class="step" role="status">
          {step}
        </p>
        <p class="refusal" role="alert">
          {error === undefined ? "" : messageOf(error)}
        </p>
        <OperatorForm
          isBusy={isBusy}
          onToken={(token) =>
            void enter(() => ask<SessionView>("/sign-in/operator", "POST", { token }))
          }
        />
      </div>
    </main>
  );
}

function WalletList(props: { isBusy: boolean; onChoose: (wallet: Wallet) => void }) {
  const wallets = useWallets();
  if (wallets.length === 0) {
    return (
      <div class="empty">
        <p class="empty-title">No wallet found</p>
        <p>Install or unlock an Ethereum wallet in this browser, then reload the page.</p>
      </div>
    );
  }
  return (
    <div class="wallets">
      {wallets.map((wallet) => (
        <button
          key={wallet.id}
          type="button"
          class="button primary wide"
          disabled={props.isBusy}
          onClick={() => props.onChoose(wallet)}
        >
          {wallet.icon && <img src={wallet.icon} alt="" width="20" height="20" />}
          Sign in with {wallet.name}
        </button>
      ))}
    </div>
  );
}

function OperatorForm(props: { isBusy: boolean; onToken: (token: string) => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    props.onToken(String(new FormData(event.currentTarget).get("token") ?? "").trim());
  };
  return (
    <details class="operator">
      <summary>Sign in as the operator</summary>
      <form onSubmit={submit}>
        <Field label="Admin token" hint="Printed once when the service first started.">
          {(id, hintId) => (
            <input
              id={id}
              name="token"
              type="password"
              required
              autocomplete="current-password"
              aria-describedby={hintId}
            />
          )}
        </Field>
        <button type="submit" class="button wide" disabled={props.isBusy}>
          Sign in
        </button>
      </form>
    </details>
  );
}
