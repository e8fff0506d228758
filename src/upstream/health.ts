import { remaining } from "../lib/decay.ts";
import { type MethodClass, methodClasses } from "./methodClass.ts";

/** Failures in a row without any answer after which an upstream is ejected at once. */
export const MAX_CONSECUTIVE_FAILURES = 3;
/** Share of failed answers above which an upstream is ejected, once there are enough of them. */
const MAX_ERROR_RATE = 0.3;
const MIN_ERROR_SAMPLES = 10;
/** First wait before an ejected upstream is probed; doubles with each failed probe. */
const PROBE_BASE_MS = 250;
/**
 * Longest wait in the first minutes. A probe that hangs adds its timeout of a second, and both
 * together must stay below the two seconds in which a recovered node is to be back.
 */
const PROBE_EARLY_CAP_MS = 500;
const PROBE_LATE_CAP_MS = 10_000;
const PROBES_EARLY = 240;
/** Weight of a new latency that is above, or below, the average: worse news counts faster. */
const RISE_WEIGHT = 0.3;
const FALL_WEIGHT = 0.15;
const ERROR_WEIGHT = 0.1;
/** Unused estimates lose half their weight in this time, so that a slow upstream is tried again. */
const LATENCY_HALF_LIFE_MS = 2_000;
const ERROR_HALF_LIFE_MS = 5_000;
/** Good news after a pause counts more, as what it is averaged with is old: by half after this. */
const STALE_HALF_LIFE_MS = 1_000;
/** What a failed request costs its caller at least: noticing, choosing, sending again. */
const MIN_RETRY_COST_MS = 100;
/** A mean deviation is about 0.8 standard deviations, so this many above the mean is near p95. */
const P95_DEVIATIONS = 2.5;

/** Estimates for one class of methods. */
export interface ClassHealth {
  latencyMs: number;
  deviationMs: number;
  /** True when `latencyMs` was raised without an answer; the next answer replaces it. */
  isGuess: boolean;
  /** Share of requests without a usable answer, 0 to 1. */
  errorRate: number;
  samples: number;
  updatedAtMs: number;
}

/** What is known of one upstream. Times are monotonic, ms. */
export interface Health {
  readonly classes: Record<MethodClass, ClassHealth>;
  consecutiveFailures: number;
  /** When the next probe is due; undefined while the upstream is in use. */
  probeAtMs: number | undefined;
  /** Probes that failed since the upstream last proved itself. */
  failedProbes: number;
  /** Answers since the last ejection; enough of them forgive earlier failed probes. */
  answersSinceEjection: number;
  head: number | undefined;
}

export function newHealth(): Health {
  const classes = Object.fromEntries(
    methodClasses.map((name) => [
      name,
      {
        latencyMs: 0,
        deviationMs: 0,
        isGuess: false,
        errorRate: 0,
        samples: 0,
        updatedAtMs: 0,
      },
    ]),
  ) as Record<MethodClass, ClassHealth>;
  return {
    classes,
    consecutiveFailures: 0,
    probeAtMs: undefined,
    failedProbes: 0,
    answersSinceEjection: 0,
    head: undefined,
  };
}

/** Records a usable answer. */
export function recordAnswer(health: Health, kind: MethodClass, latencyMs: number, nowMs: number) {
  const estimate = health.classes[kind];
  learnLatency(estimate, latencyMs, nowMs);
  learnError(estimate, 0, nowMs);
  health.consecutiveFailures = 0;
  health.answersSinceEjection++;
  if (health.answersSinceEjection >= 50) health.failedProbes = 0;
}

/**
 * Records a request that was given up because another upstream was faster: it would have taken
 * longer than `elapsedMs`. Twice that is a guess, which the next answer replaces.
 */
export function recordOvertaken(
  health: Health,
  kind: MethodClass,
  elapsedMs: number,
  nowMs: number,
) {
  const estimate = health.classes[kind];
  if (elapsedMs <= estimate.latencyMs) return;
  estimate.latencyMs = elapsedMs * 2;
  estimate.isGuess = true;
  estimate.updatedAtMs = nowMs;
}

/**
 * Records a request without a usable answer.
 * @param canEjectOnRate - false when no other upstream is in use, so that a poor one is kept
 * @returns true when this failure ejected the upstream
 */
export function recordFailure(
  health: Health,
  kind: MethodClass,
  nowMs: number,
  canEjectOnRate: boolean,
): boolean {
  const estimate = health.classes[kind];
  learnError(estimate, 1, nowMs);
  health.consecutiveFailures++;
  if (health.probeAtMs !== undefined) return false;
  const dead = health.consecutiveFailures >= MAX_CONSECUTIVE_FAILURES;
  const poor = estimate.errorRate > MAX_ERROR_RATE && estimate.samples >= MIN_ERROR_SAMPLES;
  if (!dead && !(poor && canEjectOnRate)) return false;
  health.answersSinceEjection = 0;
  scheduleProbe(health, nowMs);
  return true;
}

/** Records that a probe of an ejected upstream failed. */
export function recordFailedProbe(health: Health, nowMs: number) {
  health.failedProbes++;
  scheduleProbe(health, nowMs);
}

/**
 * Forgets the errors of an upstream that failed callers but then answered a look, so that a brief
 * interruption is not held against it; one that was ejected lately must earn this by answers.
 */
export function forgive(health: Health) {
  if (health.failedProbes > 0) return;
  for (const kind of methodClasses) health.classes[kind].errorRate = 0;
}

/** Takes an ejected upstream back: past failures are forgotten, except how often probing failed. */
export function readmit(health: Health, latencyMs: number, nowMs: number) {
  health.probeAtMs = undefined;
  health.consecutiveFailures = 0;
  health.failedProbes++;
  for (const kind of methodClasses) {
    const estimate = health.classes[kind];
    estimate.errorRate = 0;
    estimate.samples = 0;
    estimate.latencyMs = Math.min(estimate.latencyMs, latencyMs);
    estimate.deviationMs = 0;
    estimate.isGuess = false;
    estimate.updatedAtMs = nowMs;
  }
}

function scheduleProbe(health: Health, nowMs: number) {
  const cap = health.failedProbes < PROBES_EARLY ? PROBE_EARLY_CAP_MS : PROBE_LATE_CAP_MS;
  const waitMs = Math.min(PROBE_BASE_MS * 2 ** Math.min(health.failedProbes, 10), cap);
  health.probeAtMs = nowMs + waitMs;
}

function learnLatency(estimate: ClassHealth, latencyMs: number, nowMs: number) {
  if (estimate.samples === 0 || estimate.isGuess) {
    estimate.latencyMs = latencyMs;
    estimate.deviationMs = latencyMs / 2;
    estimate.isGuess = false;
    return;
  }
  const difference = latencyMs - estimate.latencyMs;
  const staleness = 1 - halving(nowMs - estimate.updatedAtMs, STALE_HALF_LIFE_MS);
  const weight = difference > 0 ? RISE_WEIGHT : Math.max(FALL_WEIGHT, staleness);
  estimate.latencyMs += weight * difference;
  estimate.deviationMs += weight * (Math.abs(difference) - estimate.deviationMs);
}

function learnError(estimate: ClassHealth, failed: 0 | 1, nowMs: number) {
  const idleMs = nowMs - estimate.updatedAtMs;
  const remembered = estimate.errorRate * halving(idleMs, ERROR_HALF_LIFE_MS);
  estimate.errorRate = remembered + ERROR_WEIGHT * (failed - remembered);
  estimate.samples++;
  estimate.updatedAtMs = nowMs;
}

function halving(idleMs: number, halfLifeMs: number): number {
  return remaining(Math.max(0, idleMs), halfLifeMs);
}

/** The parts of an expected cost, each in ms. */
export interface CostParts {
  readonly latencyMs: number;
  readonly errorMs: number;
  readonly queueMs: number;
  readonly lagMs: number;
}

export interface CostContext {
  readonly nowMs: number;
  readonly inFlight: number;
  readonly maxConcurrent: number;
  /** Highest block any upstream of the chain has shown. */
  readonly chainHead: number | undefined;
  readonly blockTimeMs: number;
}

/** The expected cost of sending the next request of a class to an upstream. */
export function expectedCost(health: Health, kind: MethodClass, context: CostContext): CostParts {
  const own = health.classes[kind];
  // A class without answers of its own borrows what ordinary reads have shown.
  const estimate = own.samples > 0 ? own : health.classes.read;
  const idleMs = context.nowMs - estimate.updatedAtMs;
  const latencyMs = estimate.latencyMs * halving(idleMs, LATENCY_HALF_LIFE_MS);
  const errorRate = estimate.errorRate * halving(idleMs, ERROR_HALF_LIFE_MS);
  return {
    latencyMs,
    errorMs: errorRate * Math.max(MIN_RETRY_COST_MS, 2 * latencyMs),
    queueMs: (latencyMs * context.inFlight) / context.maxConcurrent,
    lagMs: lagCost(health.head, context),
  };
}

/**
 * How long an upstream has been behind, beyond what polling at different moments explains:
 * two blocks or six seconds, whichever is longer.
 */
function lagCost(head: number | undefined, context: CostContext): number {
  if (head === undefined || context.chainHead === undefined) return 0;
  const behindMs = (context.chainHead - head) * context.blockTimeMs;
  const toleranceMs = Math.max(2 * context.blockTimeMs, 6_000);
  return behindMs > toleranceMs ? behindMs : 0;
}

/** Sum of a cost's parts, ms. */
export function totalCost(parts: CostParts): number {
  return parts.latencyMs + parts.errorMs + parts.queueMs + parts.lagMs;
}

/** Time within which about 95 % of this class's answers come; 0 while nothing is known. */
export function p95Ms(health: Health, kind: MethodClass): number {
  const own = health.classes[kind];
  const estimate = own.samples > 0 ? own : health.classes.read;
  return estimate.latencyMs + P95_DEVIATIONS * estimate.deviationMs;
}
