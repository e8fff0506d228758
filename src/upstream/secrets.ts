import type { Verdict } from "./classify.ts";

const ASTERISK = 0x2a;
/** A path or query shorter than this names no account. */
const MIN_PATH_LENGTH = 6;
/** A query value or password shorter than this would be found by chance in honest text. */
const MIN_VALUE_LENGTH = 6;

/** Whether a part of a URL looks like an access key: long, and not a word. */
export function isKeyLike(part: string): boolean {
  if (part.length < 12) return false;
  return part.length >= 24 || (/\d/.test(part) && /[a-z]/i.test(part));
}

/**
 * The parts of an upstream's URL that open the vendor's account, and the forms in which a node may
 * repeat them: as written, decoded, and as a Basic credential.
 */
export function secretsOf(url: URL): readonly Uint8Array[] {
  const found = new Set<string>();
  const path = `${url.pathname}${url.search}`;
  if (path.length >= MIN_PATH_LENGTH) found.add(path);
  if (url.pathname.length >= MIN_PATH_LENGTH) found.add(url.pathname);
  for (const part of url.pathname.split("/")) if (isKeyLike(part)) found.add(part);
  for (const value of [url.username, url.password, ...keysInQuery(url)]) {
    if (value.length >= MIN_VALUE_LENGTH) found.add(value);
  }
  if (url.username || url.password) {
    const pair = `${decode(url.username)}:${decode(url.password)}`;
    found.add(Buffer.from(pair).toString("base64"));
  }
  const forms = [...found].flatMap((text) => [text, decode(text), text.replaceAll("/", "\\/")]);
  // The longest first, so that a secret within another is not left in part.
  return [...new Set(forms)].sort((a, b) => b.length - a.length).map((text) => Buffer.from(text));
}

/** Values of a query that are keys by their looks or by their names. */
function keysInQuery(url: URL): string[] {
  return [...url.searchParams]
    .filter(([name, value]) => isKeyLike(value) || /key|token|secret|auth|pass|sig/i.test(name))
    .map(([, value]) => value);
}

/**
 * Replaces every occurrence of a secret by as many asterisks, so that positions keep their meaning.
 * @returns the same bytes when there is none
 */
export function scrub(bytes: Uint8Array, secrets: readonly Uint8Array[]): Uint8Array {
  let clean: Buffer | undefined;
  for (const secret of secrets) {
    let text = clean ?? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at)) {
      clean ??= Buffer.from(bytes);
      text = clean;
      text.fill(ASTERISK, at, at + secret.length);
    }
  }
  return clean ?? bytes;
}

/** Largest result that is searched; node texts are far shorter. */
const MAX_SEARCHED_RESULT_BYTES = 1_048_576;

/** A verdict whose answer repeats no secret of the upstream's URL. */
export function withoutSecrets(verdict: Verdict, secrets: readonly Uint8Array[]): Verdict {
  if (verdict.kind !== "deliver" && verdict.kind !== "retry") return verdict;
  const { answer } = verdict;
  if (!answer) return verdict;
  if (!answer.error && answer.bytes.length > MAX_SEARCHED_RESULT_BYTES) return verdict;
  const bytes = scrub(answer.bytes, secrets);
  return bytes === answer.bytes ? verdict : { ...verdict, answer: { ...answer, bytes } };
}

/** The name an upstream is shown by: its host, without labels that look like keys. */
export function publicHost(url: URL): string {
  const isAddress = url.hostname.startsWith("[");
  if (isAddress) return url.host;
  return url.host
    .split(".")
    .map((label) => (label.length >= 20 && /\d/.test(label) ? `${label.slice(0, 4)}***` : label))
    .join(".");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
