import { useState } from "preact/hooks";
import type { KeyView, NewKeyView } from "../../views.ts";
import { at, count, exactly, until } from "../format.ts";
import { linkTo, useLocation } from "../router.ts";
import { useSession } from "../session.ts";
import { Icon } from "../ui/icon.tsx";
import { ListPanel } from "../ui/list.tsx";
import { Badge, Id, PageHead, Time, type Tone } from "../ui/parts.tsx";
import type { Column } from "../ui/table.tsx";
import { useData } from "../useData.ts";
import {
  EditKeyDialog,
  NewKeyDialog,
  RevokeDialog,
  RotateDialog,
  SecretDialog,
} from "./keyDialogs.tsx";

const POLL_MS = 2_000;

type Open =
  | { readonly kind: "new" }
  | { readonly kind: "edit" | "rotate" | "revoke"; readonly key: KeyView }
  | { readonly kind: "secret"; readonly made: NewKeyView };

/** API keys: make, look after, end. */
export function KeysPage() {
  const keys = useData<readonly KeyView[]>("/keys", POLL_MS);
  const { session, keepSecret } = useSession();
  const { argument } = useLocation();
  const [open, setOpen] = useState<Open | undefined>(
    argument === "new" ? { kind: "new" } : undefined,
  );
  const isOperator = session.role === "operator";
  const close = () => {
    setOpen(undefined);
    if (argument !== undefined) location.hash = linkTo("keys");
  };
  const done = () => {
    close();
    keys.reload();
  };
  const made = (result: NewKeyView) => {
    keepSecret(`${result.key.name || "Unnamed"} ${result.key.hint}`, result.secret);
    keys.reload();
    setOpen({ kind: "secret", made: result });
  };
  return (
    <>
      <PageHead
        title="API keys"
        lead={
          isOperator
            ? "Every key of this service. Keys you make here belong to the operator."
            : "A key's secret is shown once, when it is made or rotated."
        }
      >
        <button type="button" class="button primary" onClick={() => setOpen({ kind: "new" })}>
          <Icon name="plus" />
          Create key
        </button>
      </PageHead>
      <ListPanel
        title="Keys"
        of={keys}
        columns={columns(isOperator, setOpen)}
        keyOf={({ id }) => id}
        empty={{
          title: "No keys yet",
          text: "Create one to call the API. You choose what it may do and for how long.",
        }}
      />
      {open?.kind === "new" && <NewKeyDialog onClose={close} onMade={made} />}
      {open?.kind === "secret" && <SecretDialog made={open.made} onClose={close} />}
      {open?.kind === "edit" && <EditKeyDialog of={open.key} onClose={close} onDone={done} />}
      {open?.kind === "rotate" && <RotateDialog of={open.key} onClose={close} onMade={made} />}
      {open?.kind === "revoke" && <RevokeDialog of={open.key} onClose={close} onDone={done} />}
    </>
  );
}

const tones: Readonly<Record<KeyView["state"], Tone>> = {
  active: "ok",
  expired: "warn",
  revoked: "bad",
};

function columns(isOperator: boolean, onOpen: (open: Open) => void): readonly Column<KeyView>[] {
  const owner: Column<KeyView> = {
    head: "Account",
    cell: ({ accountId }) => (accountId === null ? "operator" : <Id text={accountId} />),
  };
  return [
    { head: "Key", isTitle: true, cell: (key) => <KeyName of={key} /> },
    {
      head: "State",
      cell: ({ state, environment }) => (
        <span class="badges">
          <Badge tone={tones[state]}>{state}</Badge>
          <Badge tone={environment === "live" ? "accent" : "plain"}>{environment}</Badge>
        </span>
      ),
    },
    ...(isOperator ? [owner] : []),
    { head: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
    {
      head: "Window",
      isFigure: true,
      cell: ({ window: { limit } }) => (limit >= 2_147_483_647 ? "no limit" : exactly(limit)),
    },
    { head: "CU this month", isFigure: true, cell: ({ monthCu }) => count(monthCu) },
    {
      head: "Last used",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Time at={lastUsedAt} />),
    },
    {
      head: "Actions",
      cell: (key) => (key.state === "revoked" ? null : <KeyActions of={key} onOpen={onOpen} />),
    },
  ];
}

function KeyName({ of: key }: { of: KeyView }) {
  const { name, hint, graces, expiresAt, ipAllowList, state } = key;
  return (
    <>
      {name || "Unnamed"}
      <code class="hint">{hint}</code>
      {state === "active" &&
        graces.map((grace) => (
          <small key={grace.hint} class="grace">
            old secret …{grace.hint.slice(-4)} ends {until(grace.until)}
          </small>
        ))}
      {expiresAt !== null && state !== "revoked" && <small>expires {at(expiresAt)}</small>}
      {ipAllowList.length > 0 && <small>only from {ipAllowList.join(", ")}</small>}
    </>
  );
}

function KeyActions({ of: key, onOpen }: { of: KeyView; onOpen: (open: Open) => void }) {
  const name = key.name || key.hint;
  return (
    <span class="row-actions">
      {(["edit", "rotate", "revoke"] as const).map((kind) => (
        <button
          key={kind}
          type="button"
          class={kind === "revoke" ? "button small danger-text" : "button small"}
          aria-label={`${titles[kind]} ${name}`}
          onClick={() => onOpen({ kind, key })}
        >
          {titles[kind]}
        </button>
      ))}
    </span>
  );
}

const titles = { edit: "Edit", rotate: "Rotate", revoke: "Revoke" } as const;
