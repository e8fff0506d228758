/** Sleeps this long at a time, ms. */
const SLEEP_MS = 2;
/** A sleep that lasted this much longer is a stall; a busy core wakes a sleeper sooner. */
const STALL_MS = 5;

/**
 * A process that does nothing but sleep, and writes when it was kept from waking: a line with the
 * stall's beginning and end, ms since the epoch.
 */
let sleptAt = Date.now();
for (;;) {
  Bun.sleepSync(SLEEP_MS);
  const now = Date.now();
  if (now - sleptAt > SLEEP_MS + STALL_MS) process.stdout.write(`${sleptAt + SLEEP_MS} ${now}\n`);
  sleptAt = now;
}
