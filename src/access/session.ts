import { ApiError } from "../lib/errors.ts";
import { type Admitted, admitted, holdUnits, Passage, takeFromWindow } from "./admission.ts";
import { settled, writeHeaders } from "./answer.ts";
import type { ApiKey } from "./keys.ts";
import { operations } from "./operations.ts";
import { offeredProtocols, SOCKET_PROTOCOL } from "./presentedKey.ts";

/** What was counted and held for one message. Must be settled. */
export interface Hold {
  /**
   * Charges the answer as HTTP would (2xx only). Resolves when the charge is in the database, so
   * the answer must not leave before.
   * @param isGone - whether the caller has left
   */
  settle(status: number, chainId: number, isGone: boolean): Promise<void>;
}

/** A connection that stays open: each of its messages passes the gate's limits like a request. */
export interface Session {
  readonly keyId: string;
  /** Whether the key that opened the connection is valid and may still do so from there. */
  isValid(): Promise<boolean>;
  /**
   * Counts a message as this many requests: takes them from the rate window and holds their units.
   * @throws ApiError `INVALID_API_KEY`, `RATE_LIMIT_EXCEEDED`, `CU_ALLOWANCE_EXCEEDED`
   */
  admit(items: number): Promise<Hold>;
  /**
   * Holds the units of messages nobody asked for one by one, which no window counts.
   * @throws ApiError `INVALID_API_KEY`, `CU_ALLOWANCE_EXCEEDED`
   */
  admitPushed(items: number): Promise<Hold>;
}

/**
 * Makes a session of a request the gate let in, for the connection it is upgraded to.
 * @throws ApiError `INVALID_API_KEY` when the gate did not let the request in
 */
export function openSession(request: Request): Session {
  const { access, head, key: opener, operation, mayStayOpen } = admitted(request);
  const { shown } = head;
  const { cu } = operations[operation];

  const validKey = async (): Promise<ApiKey | undefined> => {
    const key = shown && (await access.keys.verifyShown(shown));
    return key && mayStayOpen(key) ? key : undefined;
  };

  const admit = async (items: number, isCounted: boolean): Promise<Hold> => {
    const key = await validKey();
    if (!key) throw new ApiError("INVALID_API_KEY");
    const passage = Object.assign(new Passage(access, head, () => {}), { key, operation, items });
    await holdUnits(passage, key, cu * items);
    try {
      if (isCounted) await takeFromWindow(passage, key, items);
    } catch (error) {
      passage.release();
      throw error;
    }
    return {
      async settle(status, chainId, isGone) {
        passage.chainId = chainId;
        await settled(passage, status, isGone);
      },
    };
  };

  return {
    keyId: opener.id,
    isValid: async () => (await validKey()) !== undefined,
    admit: (items) => admit(items, true),
    admitPushed: (items) => admit(items, false),
  };
}

/** Headers of the answer that accepts an upgrade. */
export function upgradeHeaders(request: Request): Record<string, string> {
  const headers: Record<string, string> = {};
  const passage: Admitted = admitted(request);
  writeHeaders(passage, (name, value) => (headers[name] = value));
  const offersOurs = offeredProtocols(passage.head).includes(SOCKET_PROTOCOL);
  return offersOurs ? { ...headers, "sec-websocket-protocol": SOCKET_PROTOCOL } : headers;
}
