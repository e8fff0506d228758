import { useState } from "preact/hooks";
import type { Scope } from "../../../access/operations.ts";
import { scopes as allScopes } from "../../../access/operations.ts";
import type { ManagedAccountView } from "../../views.ts";
import { ask } from "../api.ts";
import { count, exactly } from "../format.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { InputField } from "../ui/inputs.tsx";
import { ListPanel } from "../ui/list.tsx";
import { Badge, Id, PageHead, Time } from "../ui/parts.tsx";
import type { Column } from "../ui/table.tsx";
import { useData } from "../useData.ts";
import { numberOrNull } from "./forms.ts";

const POLL_MS = 10_000;

/** Developers' accounts: what each may do, and what it did. */
export function AccountsPage() {
  const accounts = useData<readonly ManagedAccountView[]>("/accounts", POLL_MS);
  const [edited, setEdited] = useState<ManagedAccountView>();
  return (
    <>
      <PageHead title="Accounts" lead="Developers who signed in with a wallet." />
      <ListPanel
        title="Accounts"
        of={accounts}
        columns={columns(setEdited)}
        keyOf={({ id }) => id}
        empty={{
          title: "No accounts yet",
          text: "An account comes about when a wallet signs in for the first time.",
        }}
      />
      {edited && (
        <AccountDialog
          account={edited}
          onClose={() => setEdited(undefined)}
          onDone={() => {
            setEdited(undefined);
            accounts.reload();
          }}
        />
      )}
    </>
  );
}

function columns(
  onEdit: (account: ManagedAccountView) => void,
): readonly Column<ManagedAccountView>[] {
  return [
    {
      head: "Wallet",
      isTitle: true,
      cell: ({ address, chainId, id }) => (
        <>
          <Id text={address} />
          {chainId !== null && <small>contract on chain {chainId}</small>}
          <small>{id}</small>
        </>
      ),
    },
    {
      head: "State",
      cell: ({ disabledAt }) =>
        disabledAt === null ? <Badge tone="ok">active</Badge> : <Badge tone="bad">disabled</Badge>,
    },
    {
      head: "Keys",
      isFigure: true,
      cell: ({ keys, bounds }) => `${exactly(keys)} of ${exactly(bounds.maxKeys)}`,
    },
    { head: "Scopes", cell: ({ bounds }) => bounds.scopes.join(", ") },
    {
      head: "Window per key",
      isFigure: true,
      cell: ({ bounds }) => exactly(bounds.maxWindowLimit),
    },
    { head: "CU this month", isFigure: true, cell: ({ month }) => count(month.cu) },
    { head: "Signed in", cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
    {
      head: "Actions",
      cell: (account) => (
        <span class="row-actions">
          <button
            type="button"
            class="button small"
            aria-label={`Edit ${account.address}`}
            onClick={() => onEdit(account)}
          >
            Edit
          </button>
        </span>
      ),
    },
  ];
}

function AccountDialog(props: {
  account: ManagedAccountView;
  onClose: () => void;
  onDone: () => void;
}) {
  const { account } = props;
  const save = async (form: FormData) => {
    const scopes = form.getAll("scopes").map(String);
    const isAsBefore = scopes.toSorted().join() === account.bounds.scopes.toSorted().join();
    await ask(`/accounts/${account.id}`, "PATCH", {
      maxKeys: numberOrNull(form, "maxKeys"),
      maxWindowLimit: numberOrNull(form, "maxWindowLimit"),
      isDisabled: form.get("disabled") !== null,
      ...(!isAsBefore && { scopes }),
    });
    props.onDone();
  };
  return (
    <FormDialog title="Edit account" submit="Save" onClose={props.onClose} onSubmit={save}>
      <p>
        <code class="wrap">{account.address}</code>
      </p>
      <fieldset>
        <legend>Scopes its keys may have</legend>
        <div class="choices two">
          {allScopes.map((scope) => (
            <ScopeChoice
              key={scope}
              scope={scope}
              isChecked={account.bounds.scopes.includes(scope)}
            />
          ))}
        </div>
        <p class="hint">
          With bridges its keys move the operator's USDC, within the bridge's limits.
        </p>
      </fieldset>
      <div class="pair">
        <BoundField label="Keys" name="maxKeys" own={account.own.maxKeys} />
        <BoundField
          label="Requests per 60 s and key"
          name="maxWindowLimit"
          own={account.own.maxWindowLimit}
        />
      </div>
      <label class="choice">
        <input type="checkbox" name="disabled" defaultChecked={account.disabledAt !== null} />
        <span>
          <b>Disabled</b> <small>its keys are refused and its sessions end at once</small>
        </span>
      </label>
    </FormDialog>
  );
}

function ScopeChoice({ scope, isChecked }: { scope: Scope; isChecked: boolean }) {
  return (
    <label class="choice">
      <input type="checkbox" name="scopes" value={scope} defaultChecked={isChecked} />
      <span>
        <b>{scope}</b>
      </span>
    </label>
  );
}

function BoundField(props: { label: string; name: string; own: number | null }) {
  const { label, name, own } = props;
  const hint = "Empty: the service's default.";
  return (
    <InputField label={label} hint={hint} name={name} type="number" min={1} value={own ?? ""} />
  );
}
