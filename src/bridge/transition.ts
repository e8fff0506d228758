/**
 * States of a transfer, in the only order they are passed in. `completed` and `failed` are final.
 * - `created`: the row and its reserved amount exist, nothing is signed
 * - `pulling`: the sender's authorization is signed into a transaction
 * - `funded`: the sender's funds are ours to burn
 * - `signed`: the burn's bytes are stored
 * - `burning`: the burn was given to the network at least once
 * - `burned`: the burn is in a block
 * - `attested`: the message is attested and is, field by field, that of our burn
 * - `minting`: our own mint's bytes are stored
 */
export const transferStates = [
  "created",
  "pulling",
  "funded",
  "signed",
  "burning",
  "burned",
  "attested",
  "minting",
  "completed",
  "failed",
] as const;
export type TransferState = (typeof transferStates)[number];

/** What can happen to a transfer. */
export type TransferEvent =
  | "pullSigned"
  | "pulled"
  | "burnSigned"
  | "broadcast"
  | "burned"
  | "attested"
  | "mintSigned"
  | "minted"
  /** Given up, or refused by the chain, before a burn existed. */
  | "abandoned";

const edges: Readonly<Record<TransferState, Partial<Record<TransferEvent, TransferState>>>> = {
  created: { pullSigned: "pulling", burnSigned: "signed", abandoned: "failed" },
  // The authorization may be refused on chain; until it was used, nothing is ours to lose.
  pulling: { pulled: "funded", abandoned: "failed" },
  // The sender's money is here: from now on the transfer can only go on.
  funded: { burnSigned: "signed" },
  signed: { broadcast: "burning" },
  // `abandoned` is a burn that the chain executed and reverted.
  burning: { burned: "burned", abandoned: "failed" },
  burned: { attested: "attested" },
  attested: { mintSigned: "minting", minted: "completed" },
  minting: { minted: "completed" },
  completed: {},
  failed: {},
};

/** The state an event leads to; undefined when it cannot happen there. */
export function transition(state: TransferState, event: TransferEvent): TransferState | undefined {
  return edges[state][event];
}

/** Whether a burn may exist in this state. */
export function isAfterBurn(state: TransferState): boolean {
  return ["burned", "attested", "minting", "completed"].includes(state);
}

/** Whether nothing more will happen. */
export function isFinal(state: TransferState): boolean {
  return state === "completed" || state === "failed";
}

/** The four statuses of the public API. */
export type TransferStatus = "pending" | "attested" | "completed" | "failed";

export function statusOf(state: TransferState): TransferStatus {
  if (state === "completed" || state === "failed") return state;
  return state === "attested" || state === "minting" ? "attested" : "pending";
}
