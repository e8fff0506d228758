import { createAccess } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";

/** How long one kind of wrong guess took to be refused. */
export interface GuessTiming {
  readonly guess: string;
  readonly medianNanos: number;
  /** Relative to the kind that is right nowhere. */
  readonly ratio: number;
}

type Check = (guess: string) => unknown;

/**
 * Times how long wrong guesses take to be refused that are right nowhere, in their first half, and
 * in all but the last digit. A comparison that stops at the first wrong digit would tell them apart.
 * @param samples - of each kind, made in turns
 */
export async function timeGuesses(
  samples: number,
): Promise<Readonly<Record<"key" | "adminToken", readonly GuessTiming[]>>> {
  const database = openDatabase(":memory:");
  const { keys, adminToken: operator } = await createAccess(database, loadConfig({}).access);
  const { secret } = await keys.create({ environment: "test", scopes: ["read"] }, "test");
  const adminToken = `admin_${randomHex(64)}`;
  await operator.settle(adminToken);
  const result = {
    key: await timeKinds((guess) => keys.verify(guess), samples, {
      "right nowhere": () => withChecksum(`sk_test_${randomHex(40)}`),
      "right in its first half": () => withChecksum(secret.slice(0, 28) + randomHex(20)),
      "right but for its last digit": () =>
        withChecksum(secret.slice(0, 47) + otherDigit(secret[47])),
    }),
    adminToken: await timeKinds(operator.matches, samples, {
      "right nowhere": () => `admin_${randomHex(64)}`,
      "right in its first half": () => adminToken.slice(0, 38) + randomHex(32),
      "right but for its last digit": () => adminToken.slice(0, -1) + otherDigit(adminToken.at(-1)),
    }),
  };
  database.close();
  return result;
}

async function timeKinds(
  check: Check,
  samples: number,
  kinds: Readonly<Record<string, () => string>>,
): Promise<readonly GuessTiming[]> {
  const timings = Object.entries(kinds).map(([guess, make]) => ({
    guess,
    make,
    nanos: [] as number[],
  }));
  for (let sample = 0; sample < samples; sample++) {
    // Each turn begins with another kind, so that none always follows the same one.
    const shift = sample % timings.length;
    for (const { make, nanos } of [...timings.slice(shift), ...timings.slice(0, shift)]) {
      const guess = make();
      const startedAt = Bun.nanoseconds();
      const isOpened = await check(guess);
      nanos.push(Bun.nanoseconds() - startedAt);
      if (isOpened) throw new Error("a wrong guess was accepted");
    }
  }
  const medians = timings.map(({ guess, nanos }) => ({
    guess,
    medianNanos: nanos.toSorted((a, b) => a - b)[samples >> 1] ?? Number.NaN,
  }));
  const base = medians[0]?.medianNanos ?? Number.NaN;
  return medians.map(({ guess, medianNanos }) => ({
    guess,
    medianNanos,
    ratio: medianNanos / base,
  }));
}

/** The guess with the checksum a key of this service has, so that it is looked up. */
function withChecksum(body: string): string {
  return body + Bun.hash.crc32(body).toString(16).padStart(8, "0");
}

function otherDigit(digit: string | undefined): string {
  return digit === "0" ? "1" : "0";
}

function randomHex(digits: number): string {
  return crypto.getRandomValues(new Uint8Array(digits / 2)).toHex();
}

// bun tests/access/timingRun.ts [samples]
if (import.meta.main) {
  for (const [secret, timings] of Object.entries(
    await timeGuesses(Number(process.argv[2] ?? 200_000)),
  )) {
    process.stdout.write(`${secret}\n${Bun.inspect.table(timings)}`);
  }
}
