import type { Access, ApiKey, KeyDetails } from "../../access/index.ts";
import type { ActivityStore, KeyChanges } from "../../db/index.ts";
import { formatDecimalAmount } from "../../lib/amounts.ts";
import { ApiError } from "../../lib/errors.ts";
import type { AccountService } from "../accounts.ts";
import { actorOf, type Identity } from "../endpoint.ts";
import type { KeyChangesBody, NewKeyBody } from "../model.ts";
import type { KeyView, NewKeyView } from "../views.ts";
import { chunksOf } from "./chunks.ts";

export interface ConsoleKeysOptions {
  readonly access: Access;
  readonly accounts: AccountService;
  readonly activity: ActivityStore;
}

/**
 * API keys as the console shows and changes them. A developer sees and touches the keys of their
 * account only; to them every other id is unknown. The operator sees all.
 */
export interface ConsoleKeys {
  list(identity: Identity): Promise<readonly KeyView[]>;
  /** Ids of the keys the identity may see: all of them, or the one that is asked for. */
  visibleIds(identity: Identity, wanted: string | null): Promise<readonly string[]>;
  create(identity: Identity, body: NewKeyBody): Promise<NewKeyView>;
  update(identity: Identity, id: string, body: KeyChangesBody): Promise<KeyView>;
  rotate(identity: Identity, id: string, graceMs: number): Promise<NewKeyView>;
  revoke(identity: Identity, id: string): Promise<void>;
}

const USDC_DECIMALS = 6;

export function createConsoleKeys({ access, accounts, activity }: ConsoleKeysOptions): ConsoleKeys {
  const { keys, clock } = access;

  const held = async (identity: Identity): Promise<readonly KeyDetails[]> =>
    keys.list(identity.role === "operator" ? undefined : identity.account.id);

  /** @throws ApiError `UNKNOWN_KEY` also for a key of another account */
  const find = async (identity: Identity, id: string): Promise<KeyDetails> => {
    const key = await keys.show(id);
    const isVisible = identity.role === "operator" || key?.accountId === identity.account.id;
    if (!key || !isVisible) throw new ApiError("UNKNOWN_KEY");
    return key;
  };

  const view = async (key: KeyDetails, lastUsedAt: number | undefined): Promise<KeyView> => {
    const limit = key.windowLimit ?? access.defaultWindowLimit;
    const window = await access.window.take(key.id, 0, limit);
    const monthCu = await access.meter.monthCu(key.id);
    const { remaining, resetAt } = window;
    return {
      ...describe(key, clock.now()),
      lastUsedAt: lastUsedAt ?? null,
      monthCu,
      window: { limit, remaining, resetAt },
    };
  };
  const viewOne = async (identity: Identity, id: string): Promise<KeyView> => {
    const lastUsed = await activity.lastUsed([id]);
    return view(await find(identity, id), lastUsed.get(id));
  };

  return {
    async list(identity) {
      const all = await held(identity);
      const lastUsed = new Map<string, number>();
      for (const ids of chunksOf(all.map(({ id }) => id))) {
        for (const [id, at] of await activity.lastUsed(ids)) lastUsed.set(id, at);
      }
      return Promise.all(all.map((key) => view(key, lastUsed.get(key.id))));
    },
    async visibleIds(identity, wanted) {
      if (wanted !== null) return [(await find(identity, wanted)).id];
      return (await held(identity)).map(({ id }) => id);
    },
    async create(identity, body) {
      const actor = actorOf(identity);
      if (identity.role === "operator") {
        const { key, secret } = await keys.create(body, actor);
        return { key: await viewOne(identity, key.id), secret };
      }
      const { account } = identity;
      const bounds = accounts.boundsOf(account);
      const input = boundedKey(body, bounds, access.defaultWindowLimit);
      const owner = { accountId: account.id, maxKeys: bounds.maxKeys };
      const { key, secret } = await keys.create(input, actor, owner);
      return { key: await viewOne(identity, key.id), secret };
    },
    async update(identity, id, body) {
      await find(identity, id);
      await keys.update(id, allowedChanges(identity, body), actorOf(identity));
      return viewOne(identity, id);
    },
    async rotate(identity, id, graceMs) {
      await find(identity, id);
      const { secret } = await keys.rotate(id, graceMs, actorOf(identity));
      return { key: await viewOne(identity, id), secret };
    },
    async revoke(identity, id) {
      await find(identity, id);
      await keys.revoke(id, actorOf(identity));
    },
  };
}

/** What a developer asked for, kept within the account's bounds. @throws ApiError `KEY_REFUSED` */
function boundedKey(
  body: NewKeyBody,
  bounds: ReturnType<AccountService["boundsOf"]>,
  defaultWindowLimit: number,
): NewKeyBody {
  const refused = body.scopes.find((scope) => !bounds.scopes.some((granted) => granted === scope));
  if (refused !== undefined) {
    const granted = bounds.scopes.join(", ");
    throw new ApiError(
      "KEY_REFUSED",
      `Scope '${refused}' is not granted to this account (${granted})`,
    );
  }
  const { maxWindowLimit } = bounds;
  if ((body.windowLimit ?? 0) > maxWindowLimit) {
    throw new ApiError("KEY_REFUSED", `The window limit must be at most ${maxWindowLimit}`);
  }
  // Without a limit of its own a key follows the default, which may be more than the account's.
  const isDefaultAllowed = defaultWindowLimit <= maxWindowLimit;
  return { ...body, windowLimit: body.windowLimit ?? (isDefaultAllowed ? null : maxWindowLimit) };
}

/** @throws ApiError `OPERATOR_ONLY` where a developer would lift a limit the operator has set */
function allowedChanges(identity: Identity, body: KeyChangesBody): KeyChanges {
  if (identity.role === "operator") return body;
  const { name, ipAllowList, ...limits } = body;
  if (Object.keys(limits).length > 0) {
    throw new ApiError("OPERATOR_ONLY", "Only the operator may change a key's limits");
  }
  return { ...(name !== undefined && { name }), ...(ipAllowList && { ipAllowList }) };
}

function describe(
  key: KeyDetails,
  now: number,
): Omit<KeyView, "window" | "monthCu" | "lastUsedAt"> {
  const { secrets, bridgePerTransferAtomic, bridgePerDayAtomic, ...rest } = key;
  const [newest, ...older] = secrets;
  return {
    ...rest,
    bridgePerTransfer: usdc(bridgePerTransferAtomic),
    bridgePerDay: usdc(bridgePerDayAtomic),
    state: stateOf(key, now),
    hint: newest?.hint ?? "",
    graces: older.flatMap(({ hint, graceUntil }) =>
      graceUntil !== null && graceUntil > now ? [{ hint, until: graceUntil }] : [],
    ),
  };
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): KeyView["state"] {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

function usdc(atomic: bigint | null): string | null {
  return atomic === null ? null : formatDecimalAmount(atomic, USDC_DECIMALS);
}
