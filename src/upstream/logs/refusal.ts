/** Why a node refuses a range of `eth_getLogs`. */
export type Refusal =
  /** The range has too many blocks; `maxBlocks` where the node names its limit. */
  | { readonly kind: "range"; readonly maxBlocks: number | undefined }
  /** The answer would be too large, or take too long; some nodes name a range that would do. */
  | {
      readonly kind: "results";
      readonly maxResults: number | undefined;
      readonly suggested: { readonly from: number; readonly to: number } | undefined;
    };

/** Longest error text looked at. */
const MAX_TEXT = 1_024;

/** The answer is the problem: how many logs, how many bytes, how long it takes. */
const resultsText =
  /(?:more than|exceed\w*|max\w*|limit\w*|too many|over)[^.[]{0,60}\b(?:results?|logs|events|entries|records)\b|\b(?:results?|logs|events|entries)\b[^.[]{0,60}(?:exceed|more than|limit|too many|too large)|response (?:size|is too|too)|(?:large|big) (?:a )?(?:response|result)|(?:query|request|execution)[^.]{0,30}(?:timeout|timed out)|timeout exceeded/;

/** The range is the problem. */
const rangeText =
  /\b(?:block )?ranges?\b[^.]{0,80}(?:too (?:large|wide|big|long)|exceed|limit|max|greater|over|not (?:allowed|supported)|larger|at most)|(?:exceed|limit|max|at most|up to|greater than|over|larger than|too (?:large|wide|big|many)|smaller than)\w*[^.]{0,60}\b(?:block|range|size)|too many blocks/;

const suggestion = /\[\s*(0x[0-9a-f]+)\s*,\s*(0x[0-9a-f]+)\s*\]|range:?\s+(\d+)\s*-\s*(\d+)/;
/** A number beside the words by which nodes introduce a limit; `0 - N` is a limit of N. */
const namedLimit =
  /(?:max\w*|limit\w*|at most|up to|greater than|larger than|smaller than|over|more than|exceed\w*|distance|>)(?:[^0-9[x]|x(?=c|i)){0,48}?(?:0\s*-\s*)?(\d[\d,_]*)\s*(k|m)?\b/g;
/** A number of blocks. */
const countedBlocks = /(\d[\d,_]*)\s*(k|m)?[- ]*(?:blocks?|range)\b/g;

/**
 * Reads what a node says when it refuses a range of logs. Vendors share no code and no words, so
 * the text decides; one that names no limit still tells what kind of limit it is.
 * @param text - the error's message and textual data
 * @param blocks - size of the refused range; a limit must be below it
 * @returns undefined when the error is about something else
 */
export function parseRefusal(text: string, blocks: number): Refusal | undefined {
  const words = text.slice(0, MAX_TEXT).toLowerCase();
  const suggested = parseSuggestion(words);
  if (resultsText.test(words) || suggested) {
    return { kind: "results", maxResults: firstLimit(words, Number.POSITIVE_INFINITY), suggested };
  }
  if (!rangeText.test(words)) return undefined;
  // Neither the size of the range nor the difference of its ends, which some nodes repeat.
  return { kind: "range", maxBlocks: firstLimit(words, blocks - 2) };
}

function parseSuggestion(words: string): { from: number; to: number } | undefined {
  const match = suggestion.exec(words);
  if (!match) return undefined;
  const from = Number(match[1] ?? match[3]);
  const to = Number(match[2] ?? match[4]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to
    ? { from, to }
    : undefined;
}

/** The first number that can be the limit: at least 1 and at most `most`. */
function firstLimit(words: string, most: number): number | undefined {
  for (const pattern of [namedLimit, countedBlocks]) {
    for (const [, digits = "", unit] of words.matchAll(pattern)) {
      const scale = unit === "k" ? 1_000 : unit === "m" ? 1_000_000 : 1;
      const limit = Number(digits.replaceAll(/[,_]/g, "")) * scale;
      if (limit >= 1 && limit <= most) return limit;
    }
  }
  return undefined;
}
