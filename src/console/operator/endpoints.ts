import type { ChainRegistry } from "../../chains/index.ts";
import type { AuditStore, StoredAccount } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { ApiError } from "../../lib/errors.ts";
import type { UpstreamStatus } from "../../upstream/index.ts";
import type { AccountService } from "../accounts.ts";
import { readConsoleBody } from "../body.ts";
import { actorOf, type Call, type Endpoint } from "../endpoint.ts";
import { AccountChangesSchema, NewInvitationSchema, NewUpstreamSchema } from "../model.ts";
import type { UpstreamAdmin } from "../upstreams.ts";
import type { ManagedAccountView, UpstreamView } from "../views.ts";
import { invitationView } from "./accounts.ts";
import { type TransferAdmin, transferDetailView, transferView } from "./transfers.ts";

export interface OperatorEndpointOptions {
  readonly upstreams: UpstreamAdmin;
  /** Prices in memory and the health of their sources, as JSON. */
  readonly prices: () => object;
  readonly transfers: TransferAdmin;
  readonly accounts: AccountService;
  readonly accountView: (account: StoredAccount) => Promise<ManagedAccountView>;
  readonly audit: AuditStore;
  readonly registry: ChainRegistry;
  readonly clock: Clock;
}

const DEFAULT_INVITATION_DAYS = 14;
const MAX_TRANSFERS = 200;
const AUDIT_PAGE = 100;

/** What only the operator may see and do. */
export function operatorEndpoints(options: OperatorEndpointOptions): readonly Endpoint[] {
  return [
    ...upstreamEndpoints(options),
    ...transferEndpoints(options),
    ...accountEndpoints(options),
    {
      method: "GET",
      path: "/prices",
      access: "operator",
      answer: () => options.prices(),
    },
    {
      method: "GET",
      path: "/audit",
      access: "operator",
      async answer({ query }) {
        const before = query.get("before");
        if (before !== null && !/^[0-9]{1,15}$/.test(before)) {
          throw new ApiError("INVALID_FIELD", "Invalid field: before (an id of an earlier page)");
        }
        const from = before === null ? {} : { beforeId: Number(before) };
        return options.audit.list({ limit: AUDIT_PAGE, ...from });
      },
    },
  ];
}

function upstreamEndpoints({ upstreams, registry }: OperatorEndpointOptions): Endpoint[] {
  const view = (all: readonly UpstreamStatus[]): UpstreamView[] => {
    const heads = new Map<number, number>();
    for (const { chainId, head } of all) {
      if (head !== undefined) heads.set(chainId, Math.max(head, heads.get(chainId) ?? 0));
    }
    return all.map((one) => {
      const best = heads.get(one.chainId);
      const isKnown = one.head !== undefined && best !== undefined;
      const chain = registry.byId(one.chainId)?.name ?? String(one.chainId);
      return { ...one, chain, lagBlocks: isKnown ? best - (one.head ?? best) : null };
    });
  };
  return [
    {
      method: "GET",
      path: "/upstreams",
      access: "operator",
      answer: () => view(upstreams.list()),
    },
    {
      method: "POST",
      path: "/upstreams",
      access: "operator",
      async answer(call) {
        const { chainId, ...upstream } = await readConsoleBody(call, NewUpstreamSchema);
        return upstreams.add(chainId, upstream);
      },
    },
    {
      method: "POST",
      path: "/upstreams/:id/drain",
      access: "operator",
      async answer(call) {
        await upstreams.drain(idOf(call));
        return { id: idOf(call), draining: true };
      },
    },
    {
      method: "DELETE",
      path: "/upstreams/:id",
      access: "operator",
      async answer(call) {
        await upstreams.remove(idOf(call));
        return { id: idOf(call), removed: true };
      },
    },
  ];
}

function transferEndpoints({ transfers, registry }: OperatorEndpointOptions): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/transfers",
      access: "operator",
      async answer({ query }) {
        const state = query.get("state");
        const listed = await transfers.list({
          limit: MAX_TRANSFERS,
          ...(state !== null && { state }),
        });
        return {
          counts: await transfers.counts(),
          transfers: listed.map((transfer) => transferView(registry, transfer)),
        };
      },
    },
    {
      method: "GET",
      path: "/transfers/:id",
      access: "operator",
      answer: (call) => transferDetailView(registry, transfers, idOf(call)),
    },
    {
      method: "POST",
      path: "/transfers/:id/resume",
      access: "operator",
      answer: async (call) => ({ id: await transfers.resume(idOf(call)), resumed: true }),
    },
  ];
}

function accountEndpoints(options: OperatorEndpointOptions): Endpoint[] {
  const { accounts, accountView, clock } = options;
  return [
    {
      method: "GET",
      path: "/accounts",
      access: "operator",
      answer: async () => Promise.all((await accounts.list()).map(accountView)),
    },
    {
      method: "PATCH",
      path: "/accounts/:id",
      access: "operator",
      async answer(call) {
        const changes = await readConsoleBody(call, AccountChangesSchema);
        return accountView(await accounts.update(idOf(call), changes, actorOf(call.identity)));
      },
    },
    {
      method: "GET",
      path: "/invitations",
      access: "operator",
      answer: async () =>
        (await accounts.invitations()).map((one) => invitationView(one, clock.now())),
    },
    {
      method: "POST",
      path: "/invitations",
      access: "operator",
      async answer(call) {
        const body = await readConsoleBody(call, NewInvitationSchema);
        const { note = "", validDays = DEFAULT_INVITATION_DAYS } = body;
        const made = await accounts.invite(note, validDays, actorOf(call.identity));
        return { invitation: invitationView(made.invitation, clock.now()), code: made.code };
      },
    },
    {
      method: "POST",
      path: "/invitations/:id/revoke",
      access: "operator",
      async answer(call) {
        await accounts.revokeInvitation(idOf(call), actorOf(call.identity));
        return { id: idOf(call), revoked: true };
      },
    },
  ];
}

function idOf({ params }: Call): string {
  return params["id"] ?? "";
}
