/** Number of rows and a sum over their contents, whatever order they come in. */
export interface Checksum {
  readonly rows: number;
  readonly digest: string;
}

/** A value as either engine gives it: a number may come as text, a truth value as 0 or 1. */
export type RawValue = string | number | bigint | boolean | null;

const MODULUS = 1n << 256n;

/** Adds rows up. Equal sets of rows have equal sums; different ones have not. */
export class RowSum {
  #rows = 0;
  #sum = 0n;

  add(values: readonly RawValue[]): void {
    const text = JSON.stringify(values.map(canonical));
    const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % MODULUS;
    this.#rows++;
  }

  result(): Checksum {
    return { rows: this.#rows, digest: this.#sum.toString(16) };
  }
}

function canonical(value: RawValue): string | null {
  if (value === null) return null;
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}
