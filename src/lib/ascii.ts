/** Up to this length, character by character costs less than a call of the runtime. */
const MAX_LOOP_LENGTH = 32;
/** Largest number whose digits are found by whole-number division. */
const MAX_INTEGER = 0x7fff_ffff;
const ZERO = 0x30;

/**
 * Writes a text of one byte per character.
 * @returns where it ends
 */
export function putText(target: Buffer, start: number, text: string): number {
  const { length } = text;
  if (length > MAX_LOOP_LENGTH) return start + target.write(text, start, "latin1");
  for (let index = 0; index < length; index++) target[start + index] = text.charCodeAt(index);
  return start + length;
}

/**
 * Writes a whole number that is not negative, in decimal.
 * @returns where it ends
 */
export function putNumber(target: Buffer, start: number, value: number): number {
  if (value > MAX_INTEGER) return putText(target, start, String(value));
  const end = start + digitsOf(value);
  let rest = value | 0;
  for (let at = end - 1; at >= start; at--) {
    const next = (rest / 10) | 0;
    target[at] = ZERO + rest - next * 10;
    rest = next;
  }
  return end;
}

/** How many digits a whole number has that is not negative. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}
