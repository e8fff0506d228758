import type { KeyView, NewKeyView } from "../../views.ts";
import { ask } from "../api.ts";
import { exactly } from "../format.ts";
import { linkTo } from "../router.ts";
import { useSession } from "../session.ts";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { InputField, TextField } from "../ui/inputs.tsx";
import { CopyButton, Field } from "../ui/parts.tsx";
import { lines, numberOrNull, textOf, timeOrNull } from "./forms.ts";

const scopeTexts: Readonly<Record<string, string>> = {
  read: "prices, balances, venues, JSON-RPC",
  swaps: "quotes and swap transactions",
  quotes: "reserved; no endpoint asks for it",
  bridges: "move USDC between networks",
};

/** Makes a key within what the account may do. */
export function NewKeyDialog(props: { onClose: () => void; onMade: (made: NewKeyView) => void }) {
  const { bounds } = useSession().session;
  const create = async (form: FormData) => {
    const body = {
      name: textOf(form, "name"),
      environment: textOf(form, "environment"),
      scopes: form.getAll("scopes").map(String),
      windowLimit: numberOrNull(form, "windowLimit"),
      cuAllowance: numberOrNull(form, "cuAllowance"),
      expiresAt: timeOrNull(form, "expires"),
      ipAllowList: lines(form, "ips"),
    };
    props.onMade(await ask<NewKeyView>("/keys", "POST", body));
  };
  return (
    <FormDialog title="Create key" submit="Create key" onClose={props.onClose} onSubmit={create}>
      <InputField label="Name" hint="For you to tell keys apart." name="name" maxLength={100} />
      <fieldset>
        <legend>Environment</legend>
        <div class="choices two">
          <Choice type="radio" name="environment" value="test" note="testnets only" isChecked />
          <Choice type="radio" name="environment" value="live" note="mainnet funds, too" />
        </div>
      </fieldset>
      <fieldset>
        <legend>Scopes</legend>
        <div class="choices">
          {bounds.scopes.map((scope) => (
            <Choice
              key={scope}
              type="checkbox"
              name="scopes"
              value={scope}
              note={scopeTexts[scope] ?? ""}
              isChecked={scope === "read" || scope === "swaps"}
            />
          ))}
        </div>
      </fieldset>
      <details>
        <summary>Limits, expiry and addresses</summary>
        <LimitFields maxWindowLimit={bounds.maxWindowLimit} />
        <AddressField />
      </details>
    </FormDialog>
  );
}

function Choice(props: {
  type: "radio" | "checkbox";
  name: string;
  value: string;
  note: string;
  isChecked?: boolean;
}) {
  const { type, name, value, note, isChecked = false } = props;
  return (
    <label class="choice">
      <input type={type} name={name} value={value} defaultChecked={isChecked} />
      <span>
        <b>{value}</b> <small>{note}</small>
      </span>
    </label>
  );
}

function LimitFields({ maxWindowLimit, of: key }: { maxWindowLimit: number; of?: KeyView }) {
  const { defaultWindowLimit } = useSession().session.bounds;
  const byDefault = exactly(Math.min(defaultWindowLimit, maxWindowLimit));
  return (
    <>
      <InputField
        label="Requests per 60 seconds"
        hint={`Empty: ${byDefault}. At most ${exactly(maxWindowLimit)}.`}
        name="windowLimit"
        type="number"
        min={1}
        max={maxWindowLimit}
        value={key?.windowLimit ?? ""}
      />
      <InputField
        label="Compute units per month"
        hint="Empty: no bound."
        name="cuAllowance"
        type="number"
        min={1}
        value={key?.cuAllowance ?? ""}
      />
      <InputField
        label="Expires"
        hint="Empty: never."
        name="expires"
        type="datetime-local"
        value={key?.expiresAt ? localTime(key.expiresAt) : ""}
      />
    </>
  );
}

function AddressField({ of: key }: { of?: KeyView }) {
  return (
    <TextField
      label="Allowed IP addresses"
      hint="Addresses or CIDR blocks, one per line. Empty: anywhere."
      name="ips"
      rows={2}
      value={key?.ipAllowList.join("\n") ?? ""}
    />
  );
}

const MINUTE_MS = 60_000;

/** The value of a `datetime-local` field for a point in time. */
function localTime(time: number): string {
  const offsetMs = new Date(time).getTimezoneOffset() * MINUTE_MS;
  return new Date(time - offsetMs).toISOString().slice(0, "2026-01-31T12:00".length);
}

/** Shows a new secret, this once. */
export function SecretDialog(props: { made: NewKeyView; onClose: () => void }) {
  const { secret } = props.made;
  return (
    <Dialog title="Your new secret" onClose={props.onClose} isSticky>
      <p>
        Copy it now and keep it safe. It is <b>shown this once</b>; the service stores only a keyed
        hash of it.
      </p>
      <div class="secret">
        <code data-testid="secret">{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
      <div class="actions">
        <a class="button" href={linkTo("try")}>
          Try it
        </a>
        <button type="button" class="button primary" onClick={props.onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}

/** Changes a key: its holder the name and addresses, the operator the limits, too. */
export function EditKeyDialog(props: { of: KeyView; onClose: () => void; onDone: () => void }) {
  const { role, bounds } = useSession().session;
  const { of: key } = props;
  const isOperator = role === "operator";
  const save = async (form: FormData) => {
    const limits = {
      windowLimit: numberOrNull(form, "windowLimit"),
      cuAllowance: numberOrNull(form, "cuAllowance"),
      expiresAt: timeOrNull(form, "expires"),
    };
    await ask(`/keys/${key.id}`, "PATCH", {
      name: textOf(form, "name"),
      ipAllowList: lines(form, "ips"),
      ...(isOperator && limits),
    });
    props.onDone();
  };
  return (
    <FormDialog title="Edit key" submit="Save" onClose={props.onClose} onSubmit={save}>
      <InputField label="Name" name="name" maxLength={100} value={key.name} />
      {isOperator && <LimitFields maxWindowLimit={bounds.maxWindowLimit} of={key} />}
      <AddressField of={key} />
    </FormDialog>
  );
}

const graces = [
  ["0", "at once"],
  ["3600000", "after 1 hour"],
  ["86400000", "after 24 hours"],
  ["604800000", "after 7 days"],
] as const;

/** Issues a new secret; the old one ends after a grace. */
export function RotateDialog(props: {
  of: KeyView;
  onClose: () => void;
  onMade: (made: NewKeyView) => void;
}) {
  const { of: key } = props;
  const rotate = async (form: FormData) => {
    const graceMs = Number(form.get("grace"));
    props.onMade(await ask<NewKeyView>(`/keys/${key.id}/rotate`, "POST", { graceMs }));
  };
  return (
    <FormDialog
      title={`Rotate ${key.name || key.hint}`}
      submit="Rotate key"
      onClose={props.onClose}
      onSubmit={rotate}
    >
      <p>The key gets a new secret. Its id, limits and usage stay.</p>
      <Field label="The old secret ends">
        {(id) => (
          <select id={id} name="grace">
            {graces.map(([ms, text]) => (
              <option key={ms} value={ms}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}

/** Ends a key for good. */
export function RevokeDialog(props: { of: KeyView; onClose: () => void; onDone: () => void }) {
  const { of: key } = props;
  const revoke = async () => {
    await ask(`/keys/${key.id}/revoke`, "POST");
    props.onDone();
  };
  return (
    <FormDialog
      title={`Revoke ${key.name || key.hint}?`}
      submit="Revoke key"
      isDangerous
      onClose={props.onClose}
      onSubmit={revoke}
    >
      <p>
        Requests with <code>{key.hint}</code> are refused from now on. This cannot be undone; usage
        and errors stay visible.
      </p>
    </FormDialog>
  );
}
