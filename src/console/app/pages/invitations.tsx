import { useState } from "preact/hooks";
import type { InvitationView } from "../../views.ts";
import { ask } from "../api.ts";
import { at } from "../format.ts";
import { linkTo } from "../router.ts";
import { useSession } from "../session.ts";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { InputField } from "../ui/inputs.tsx";
import { ListPanel } from "../ui/list.tsx";
import { Badge, CopyButton, Id, PageHead, type Tone } from "../ui/parts.tsx";
import type { Column } from "../ui/table.tsx";
import { useData } from "../useData.ts";
import { numberOrNull, textOf } from "./forms.ts";

const POLL_MS = 10_000;

const modes = {
  open: "Sign-up is open: nobody needs an invitation at present.",
  invitation: "A new wallet needs one of these to get an account.",
  off: "Sign-up is off: invitations have no effect at present.",
} as const;

type Open =
  | { readonly kind: "new" }
  | { readonly kind: "made"; readonly code: string }
  | { readonly kind: "revoke"; readonly invitation: InvitationView };

/** Invitations to sign up, one wallet each. */
export function InvitationsPage() {
  const invitations = useData<readonly InvitationView[]>("/invitations", POLL_MS);
  const { session } = useSession();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const revoke = async (id: string) => {
    await ask(`/invitations/${id}/revoke`, "POST");
    close();
    invitations.reload();
  };
  return (
    <>
      <PageHead title="Invitations" lead={modes[session.signUp]}>
        <button type="button" class="button primary" onClick={() => setOpen({ kind: "new" })}>
          <Icon name="plus" />
          Invite
        </button>
      </PageHead>
      <ListPanel
        title="Invitations"
        of={invitations}
        columns={columns((invitation) => setOpen({ kind: "revoke", invitation }))}
        keyOf={({ id }) => id}
        empty={{
          title: "No invitations",
          text: "Each one lets a single wallet sign up until it expires.",
        }}
      />
      {open?.kind === "new" && (
        <NewDialog
          onClose={close}
          onMade={(code) => {
            setOpen({ kind: "made", code });
            invitations.reload();
          }}
        />
      )}
      {open?.kind === "made" && <CodeDialog code={open.code} onClose={close} />}
      {open?.kind === "revoke" && (
        <FormDialog
          title="Revoke the invitation?"
          submit="Revoke invitation"
          isDangerous
          onClose={close}
          onSubmit={() => revoke(open.invitation.id)}
        >
          <p>Nobody can sign up with it any more.</p>
        </FormDialog>
      )}
    </>
  );
}

const tones: Readonly<Record<InvitationView["state"], Tone>> = {
  open: "accent",
  used: "ok",
  expired: "plain",
  revoked: "bad",
};

function columns(
  onRevoke: (invitation: InvitationView) => void,
): readonly Column<InvitationView>[] {
  return [
    { head: "For", isTitle: true, cell: ({ note }) => note || "no note" },
    { head: "State", cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
    {
      head: "Used by",
      cell: ({ accountId }) => (accountId === null ? "–" : <Id text={accountId} />),
    },
    { head: "Made", cell: ({ createdAt }) => at(createdAt) },
    { head: "Expires", cell: ({ expiresAt }) => at(expiresAt) },
    {
      head: "Actions",
      cell: (invitation) =>
        invitation.state === "open" && (
          <span class="row-actions">
            <button
              type="button"
              class="button small danger-text"
              onClick={() => onRevoke(invitation)}
            >
              Revoke
            </button>
          </span>
        ),
    },
  ];
}

function NewDialog(props: { onClose: () => void; onMade: (code: string) => void }) {
  const invite = async (form: FormData) => {
    const validDays = numberOrNull(form, "validDays");
    const body = { note: textOf(form, "note"), ...(validDays !== null && { validDays }) };
    props.onMade((await ask<{ code: string }>("/invitations", "POST", body)).code);
  };
  return (
    <FormDialog title="Invite" submit="Make invitation" onClose={props.onClose} onSubmit={invite}>
      <InputField label="For whom" hint="Only you see this." name="note" maxLength={100} />
      <InputField
        label="Valid for, days"
        name="validDays"
        type="number"
        min={1}
        max={90}
        value={14}
      />
    </FormDialog>
  );
}

function CodeDialog({ code, onClose }: { code: string; onClose: () => void }) {
  const link = `${location.origin}/console${linkTo("invite", code)}`;
  return (
    <Dialog title="The invitation" onClose={onClose} isSticky>
      <p>
        Send this link to whom you invite. It is <b>shown this once</b> and works for one wallet.
      </p>
      <div class="secret">
        <code>{link}</code>
        <CopyButton text={link} label="Copy the link" />
      </div>
      <div class="actions">
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
