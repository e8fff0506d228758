let timeMs = 0;
let isKnown = false;

function forget(): void {
  isKnown = false;
}

/**
 * Monotonic time in ms, looked at once for all that one phase of the event loop handles: where
 * dozens of requests come at once, the clock costs each of them more than a look at their key.
 */
export function turnTimeMs(): number {
  if (isKnown) return timeMs;
  isKnown = true;
  setImmediate(forget);
  return (timeMs = performance.now());
}
