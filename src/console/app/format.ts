const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat("en", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

const MAX_WHOLE = 99_999;

/** A count: in full while it is short. */
export function count(value: number): string {
  return Math.abs(value) > MAX_WHOLE ? compact.format(value) : whole.format(value);
}

/** A count in full. */
export function exactly(value: number): string {
  return whole.format(value);
}

/** A point in time, in the reader's zone. */
export function at(time: number): string {
  return dateTime.format(time);
}

const STEPS: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A span in its largest unit, such as `3 min`. */
export function span(ms: number): string {
  for (const [unitMs, unit] of STEPS) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)} ${unit}`;
  }
  return "0 s";
}

/** How long ago. */
export function ago(time: number, now = Date.now()): string {
  return now - time < 1_000 ? "just now" : `${span(now - time)} ago`;
}

/** How long until. */
export function until(time: number, now = Date.now()): string {
  return `in ${span(Math.max(0, time - now))}`;
}

const EDGE = 6;

/** An address or hash, shortened in its middle. */
export function short(text: string): string {
  return text.length <= 2 * EDGE + 3 ? text : `${text.slice(0, EDGE)}…${text.slice(-EDGE + 2)}`;
}

/** Milliseconds with as many digits as matter. */
export function millis(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
