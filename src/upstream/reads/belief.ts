import type { ChainPool } from "../chainPool.ts";
import type { NodeAnswer } from "../nodeAnswer.ts";
import type { Attempted, Belief, ReadRules } from "../dispatch.ts";
import type { Upstream } from "../upstream.ts";
import type { BlockRef, ReadCall } from "./blockRefs.ts";
import { highestBlock, isNullResult } from "./observed.ts";

/**
 * Blocks below the head within which a missing block is a sign of a node that is behind. What is
 * older may have been pruned, which is an answer.
 */
const RECENT_BLOCKS = 256;
/** Heads of equal nodes differ by what is mined between two looks at them, ms. */
const LOOK_NOISE_MS = 1_000;
/** Time in which others are to confirm a head that leaps ahead, ms. */
const CONFIRM_MS = 1_000;

/** What the caller knows of the chain. */
export interface View {
  /** Highest block the caller has seen. */
  readonly highest: number | undefined;
  /** Whether the caller sent the transaction this call asks for. */
  readonly isOwn: boolean;
}

/**
 * The block an upstream must have to be asked. A number above the chain's head asks for nothing
 * more than the head, as no node can have it.
 * @returns -1 when any will do
 */
export function neededHead(
  { refs }: ReadCall,
  { highest, isOwn }: View,
  pool: Pick<ChainPool, "head" | "bestHead">,
): number {
  const chainHead = pool.head ?? -1;
  // The caller's highest block is above the head only after the chain itself went back.
  const seen = Math.min(highest ?? -1, chainHead);
  switch (refs.kind) {
    case "constant":
    case "unknown":
      return -1;
    case "hash":
      return isOwn ? Math.max(seen, pool.bestHead ?? -1) : seen;
    case "block":
      return headFor(refs.ref, seen, chainHead);
    case "range":
      return Math.max(headFor(refs.from, -1, chainHead), headFor(refs.to, seen, chainHead));
  }
}

function headFor(ref: BlockRef, seen: number, chainHead: number): number {
  if (ref.kind === "number") return Math.min(ref.number, chainHead);
  return ref.kind === "earliest" ? -1 : seen;
}

/** The highest number a call names; undefined when it names none. */
export function namedBlock({ refs }: ReadCall): number | undefined {
  if (refs.kind === "block") return numberOf(refs.ref);
  if (refs.kind !== "range") return undefined;
  const [from, to] = [numberOf(refs.from), numberOf(refs.to)];
  return from === undefined || to === undefined ? (from ?? to) : Math.max(from, to);
}

function numberOf(ref: BlockRef): number | undefined {
  return ref.kind === "number" ? ref.number : undefined;
}

/** Rules by which upstreams are asked for a read and their answers are believed. */
export function readRules(pool: ChainPool, read: ReadCall, view: View): ReadRules {
  const needs = { minHead: () => neededHead(read, view, pool) };
  const { method } = read.call;
  return {
    method,
    ...needs,
    review: (attempt, answer) => reviewAnswer(pool, read, needs, attempt, answer),
  };
}

/**
 * Whether an upstream's answer to a read is believed.
 * @param needs - what `neededHead` says, asked only where it matters
 */
export function reviewAnswer(
  pool: ChainPool,
  read: ReadCall,
  needs: { minHead(): number },
  { host: upstream, startMs }: Attempted,
  answer: NodeAnswer,
): Belief | Promise<Belief> {
  const { method, refs } = read;
  if (!method || answer.error) return "believe";
  const shown = highestBlock(method.evidence, answer);
  if (shown === undefined) return judgeSilence(pool, read, upstream, answer);
  const isTip = refs.kind === "block" && refs.ref.kind === "tip";
  if (isTip && !pool.isHead(upstream, shown, startMs) && shown < needs.minHead()) {
    return "disbelieve";
  }
  if (pool.learnHead(upstream, shown)) return "believe";
  return confirmLeap(pool, upstream, shown);
}

/** A head far ahead of all others is believed once another upstream is near it. */
async function confirmLeap(pool: ChainPool, upstream: Upstream, block: number): Promise<Belief> {
  await pool.refreshHeads(CONFIRM_MS);
  return pool.learnHead(upstream, block) ? "believe" : "disbelieve";
}

/** Judges an answer that shows no block: its node may not have what it was asked for yet. */
function judgeSilence(
  pool: ChainPool,
  { method, refs }: ReadCall,
  upstream: Upstream,
  answer: NodeAnswer,
): Belief {
  if (!method?.nullMeansMissing || !isNullResult(answer)) return "believe";
  const chainHead = pool.head ?? -1;
  if (refs.kind === "block") return judgeMissingBlock(refs.ref, chainHead);
  const noiseBlocks = 1 + Math.ceil(LOOK_NOISE_MS / pool.options.chain.blockTimeMs);
  const isBehind = (upstream.health.head ?? -1) < chainHead - noiseBlocks;
  return isBehind && (pool.bestHead ?? -1) >= chainHead ? "doubt" : "believe";
}

function judgeMissingBlock(ref: BlockRef, chainHead: number): Belief {
  if (ref.kind === "hash" || (ref.kind === "tip" && !ref.isPending)) return "doubt";
  if (ref.kind !== "number" || ref.number > chainHead) return "believe";
  return ref.number > chainHead - RECENT_BLOCKS ? "disbelieve" : "doubt";
}
