import { readFileSync } from "node:fs";
import { KEY_LENGTH } from "../../src/access/key.ts";

/**
 * A request whose marked places are filled anew for every sending, so that no two are the same.
 * All fillings of a mark have the same length, so the length of the request is known beforehand.
 */
export interface RequestTemplate {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** May hold the marks of `marks`. */
  readonly body?: string;
  /** How often it is sent, relative to the others. */
  readonly weight: number;
}

/** Who is loaded, and with what. */
export interface Target {
  readonly hostname: string;
  readonly port: number;
  readonly requests: readonly RequestTemplate[];
  /** Pattern in the first KB of every right answer's body; an answer without it is a failure. */
  readonly expects: string;
  /** File of API keys, one per line; needed where requests hold the mark for one. */
  readonly keysFile?: string;
}

/** What is put into a request: 40 hex digits, 10 decimal digits, 3 decimal digits, an API key. */
export const marks = {
  address: "@ADDRESS@",
  id: "@ID@",
  number: "@NUMBER@",
  key: "@KEY@",
} as const;
export type Mark = keyof typeof marks;

/** Characters of a line of a keys file. */
export const KEY_LINE = KEY_LENGTH + 1;

const filledLength: Readonly<Record<Mark, number>> = {
  address: 40,
  id: 10,
  number: 3,
  key: KEY_LENGTH,
};

/** One piece of a rendered request: text as it is, or a place to fill. */
export type Part = { readonly text: string } | { readonly mark: Mark };

/** The bytes of a template on the wire, in pieces. */
export function renderParts(target: Target, template: RequestTemplate): Part[] {
  const body = template.body ?? "";
  const headers = Object.entries({
    host: `${target.hostname}:${target.port}`,
    ...(template.method === "POST" && {
      "content-type": "application/json",
      "content-length": String(lengthOf(splitAtMarks(body))),
    }),
    ...template.headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${template.method} ${template.path} HTTP/1.1\r\n${headers.join("")}\r\n`;
  return splitAtMarks(head + body);
}

function splitAtMarks(text: string): Part[] {
  const names = Object.entries(marks) as [Mark, string][];
  return text
    .split(/(@[A-Z]+@)/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const mark = names.find(([, written]) => written === piece)?.[0];
      return mark ? { mark } : { text: piece };
    });
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce(
    (sum, part) => sum + ("mark" in part ? filledLength[part.mark] : Buffer.byteLength(part.text)),
    0,
  );
}

/** Makes the n-th request of a target: templates by weight, marks filled. */
export function createRequestSource(target: Target, random: () => number): () => string {
  const rendered = target.requests.map((template) => renderParts(target, template));
  const order = spreadByWeight(target.requests.map(({ weight }) => weight));
  const keys = target.keysFile === undefined ? "" : readFileSync(target.keysFile, "latin1");
  let sent = 0;
  return () => {
    const parts = rendered[order[sent % order.length] ?? 0] ?? [];
    sent++;
    let text = "";
    for (const part of parts)
      text += "text" in part ? part.text : fill(part.mark, sent, random, keys);
    return text;
  };
}

function fill(mark: Mark, sent: number, random: () => number, keys: string): string {
  switch (mark) {
    case "id":
      return String(1_000_000_000 + (sent % 1_000_000_000));
    case "number":
      return String(100 + Math.floor(random() * 900));
    case "key": {
      const start = Math.floor((random() * keys.length) / KEY_LINE) * KEY_LINE;
      return keys.slice(start, start + KEY_LENGTH);
    }
    case "address": {
      let text = "";
      for (let word = 0; word < 5; word++) {
        text += ((random() * 0x1_0000_0000) >>> 0).toString(16).padStart(8, "0");
      }
      return text;
    }
  }
}

/**
 * Indexes of templates, each as often as its weight says, evenly mixed: 3 and 1 give 0 0 1 0 or
 * the like, never 0 0 0 1 0 0 0 1 in lumps of one kind at large weights.
 */
export function spreadByWeight(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const credit = weights.map(() => 0);
  return Array.from({ length: total }, () => {
    let best = 0;
    for (let index = 0; index < weights.length; index++) {
      credit[index] = (credit[index] ?? 0) + (weights[index] ?? 0);
      if ((credit[index] ?? 0) > (credit[best] ?? 0)) best = index;
    }
    credit[best] = (credit[best] ?? 0) - total;
    return best;
  });
}
