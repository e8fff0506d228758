import { type Known, USUAL_LIMIT } from "./caps.ts";

/** With more pieces than this, it is worth asking an upstream whose limit is unknown for more. */
const WORTH_PROBING = 16;

/** How a range is to be asked for. */
export interface Plan {
  /** Blocks per request; 0 when a single block is too much for everyone. */
  readonly size: number;
  /** The size is not known to be taken, so one piece goes ahead of the others. */
  readonly isTrial: boolean;
}

/**
 * The number of blocks to ask for at once: the most any upstream is known to take, unless so many
 * pieces would come of it that one of unknown limit is worth a try: for all at first, and for what
 * most vendors take once a limit was met on this chain.
 * @param blocks - size of the range
 * @param upstreams - what is known of each that may be asked
 */
export function planPieces(blocks: number, upstreams: readonly Known[]): Plan {
  let proven = 0;
  let guessed = 0;
  let isOpen = false;
  let isLimited = false;
  for (const known of upstreams) {
    const most = Math.min(blocks, known.proven);
    if (known.isGuess) guessed = Math.max(guessed, most);
    else proven = Math.max(proven, most);
    isLimited ||= known.most < blocks;
    if (known.most >= blocks && known.proven < blocks) isOpen = true;
    else if (known.proven === 0) proven = Math.max(proven, Math.min(blocks, known.most));
  }
  const size = Math.max(proven, guessed);
  if (!isOpen || Math.ceil(blocks / size) <= WORTH_PROBING) {
    return { size, isTrial: guessed > proven };
  }
  const isUsual = isLimited && size < USUAL_LIMIT;
  return { size: isUsual ? Math.min(blocks, USUAL_LIMIT) : blocks, isTrial: true };
}

/**
 * How many requests a range is likely to take, as planned. A trial may be refused and then take more
 * than what makes one worthwhile; the fewer blocks it is for, the less likely that is.
 */
export function expectedRequests(blocks: number, { size, isTrial }: Plan): number {
  if (size === 0) return Number.POSITIVE_INFINITY;
  const risk = isTrial ? WORTH_PROBING * Math.min(1, blocks / USUAL_LIMIT) : 0;
  return Math.ceil(blocks / size) + risk;
}
