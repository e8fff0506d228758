/** Kept of the rate at which the vendor refused, and of it when it refuses again and again soon. */
const DECREASES = [0.95, 0.85, 0.7, 0.5] as const;
/** Time after a refusal in which the rate does not rise. */
const REST_MS = 1_000;
/** Refusals within this time of each other show that the first decrease was too small, ms. */
const SOON_MS = 5_000;
/** Lowest rate, requests per second: one request is always let through to see whether more may be. */
const MIN_PER_SECOND = 0.1;
/** Increase per second, as a share of the ceiling, while just below or at it. */
const CREEP = 0.001;
/** Increase per second, as a share of the rate, well below the ceiling or well above it. */
const STRIDE = 0.25;
/** Increase per second just above a ceiling, and around one that showed only once. */
const STEP = 0.02;
const UNCONFIRMED_STEP = 0.1;
/** Increase of very small rates, requests per second each second. */
const MIN_INCREASE = 0.02;
const MIN_CREEP = 0.001;
/** The creep grows with the square of the time without a refusal; it is fourfold after this, ms. */
const CREEP_GROWTH_MS = 30_000;
/** Longer windows than this one make the creep slower still, so that it takes several of them, ms. */
const CREEP_WINDOW_MS = 10_000;
/** Lowest rate concluded from a first refusal: the fewer requests there were, the less it says. */
const MIN_FIRST = 10;
/** The rate rises only while callers use it up: when one had to wait this recently, ms. */
const PRESSED_MS = 500;
/** A vendor that was closed longer counts over more than a second. */
const LONG_CLOSED_MS = 2_500;
/** Times vendors count over, ms: what one that stays closed for long is taken to use. */
const USUAL_WINDOWS_MS = [60_000, 30_000, 10_000, 5_000, 2_000] as const;
const SHORT_WINDOW_MS = 1_000;
/** Time between two openings that counts as one window, in windows: openings are noticed late. */
const SHORTEST_CYCLE = 0.95;
const LONGEST_CYCLE = 1.4;
/** Two refusals this close confirm the ceiling; two long closures, that it is over a longer time. */
const CONFIRM_MS = 120_000;
const CONFIRM_WINDOWS = 10;
/** Without a refusal for this long, what was learned is forgotten, ms. */
const FORGET_MS = 600_000;
/**
 * Refusals at less than this share of a rate that was accepted shortly before are likely not about
 * the rate: the vendor refuses some of all. The rate is let go, and when far more are refused then,
 * it was about the rate after all.
 */
const FAR_BELOW = 0.7;
/** Unless it refused at about the same rate the last time. */
const NEAR_LAST = 0.92;
const CEILING_MEMORY_MS = 30_000;
const NOISE_MS = 60_000;
const NO_NOISE_MS = 300_000;
const FIRST_NOISE = 0.05;
const MAX_NOISE = 0.25;
const NOISE_WEIGHT = 1 / 150;
/** Requests that may follow each other without pause, as a share of a second's. */
const BURST = 0.05;

/**
 * The rate a vendor accepts, learned from its refusals: a little below the rate at which it last
 * refused, from there slowly upwards until it refuses again. Unknown until the first refusal.
 */
export class LearnedRate {
  #perSecond: number | undefined;
  /** The rate at which the vendor refused last. */
  #ceiling = Number.POSITIVE_INFINITY;
  /** A second refusal has confirmed the ceiling. */
  #isConfirmed = false;
  /** Most that was accepted in a second when the vendor began to refuse. */
  #peak = 0;
  #tokens = 0;
  #refilledAtMs = 0;
  #pressedAtMs = Number.NEGATIVE_INFINITY;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #longClosedAtMs = Number.NEGATIVE_INFINITY;
  /** What the vendor counts over, ms. The longer it is, the later it shows that a rate is too high. */
  #windowMs: number = SHORT_WINDOW_MS;
  /** When the vendor accepted again after its last refusal, and how many requests it has since. */
  #openedAtMs: number | undefined;
  #acceptedSince = 0;
  readonly #recent = new RecentCount(50);
  readonly #long = new RecentCount(1_000);
  /** Until when refusals are taken to be about something else than the rate, and until when not. */
  #noiseUntilMs = Number.NEGATIVE_INFINITY;
  #noNoiseUntilMs = Number.NEGATIVE_INFINITY;
  /** Share of requests refused meanwhile. */
  #noise = 0;
  /** Refusals that came soon after another. */
  #soonInRow = 0;
  #highCeiling = 0;
  #highCeilingAtMs = Number.NEGATIVE_INFINITY;

  /** Requests per second; undefined while the vendor never refused. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Time until the rate admits one more request, ms. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    if (this.#perSecond === undefined || this.#tokens >= 1) return 0;
    this.press(nowMs);
    return ((1 - this.#tokens) / this.#perSecond) * 1_000;
  }

  /** Notes that a caller waits because of this rate. */
  press(nowMs: number): void {
    this.#pressedAtMs = nowMs;
  }

  /** Notes a request that is being sent. */
  spend(nowMs: number): void {
    this.#refill(nowMs);
    if (this.#perSecond === undefined) return;
    this.#tokens -= 1;
    if (this.#tokens < 1) this.press(nowMs);
  }

  /** Notes a request that the vendor accepted. */
  accept(nowMs: number): void {
    this.#openedAtMs ??= nowMs;
    this.#acceptedSince++;
    this.#recent.add(nowMs);
    this.#long.add(nowMs);
    this.#noise -= NOISE_WEIGHT * this.#noise;
  }

  /**
   * Notes a request that the vendor refused. Answers to requests sent earlier may still come, so
   * what was accepted when it began to refuse may still grow.
   * @param closedAtMs - when the vendor began to refuse, if before
   * @param isAsked - it said when to come back, as one does who counts
   * @returns false when this says nothing of the rate
   */
  refuse(closedAtMs: number | undefined, nowMs: number, isAsked: boolean): boolean {
    this.#notePeak(closedAtMs ?? nowMs, nowMs);
    if (isAsked) this.#noNoiseUntilMs = nowMs + NO_NOISE_MS;
    if (nowMs >= this.#noiseUntilMs) return true;
    this.#noise += NOISE_WEIGHT * (1 - this.#noise);
    if (this.#noise <= MAX_NOISE && !isAsked) {
      this.#noiseUntilMs = nowMs + NOISE_MS;
      return false;
    }
    this.#noiseUntilMs = Number.NEGATIVE_INFINITY;
    this.#noNoiseUntilMs = nowMs + NO_NOISE_MS;
    return true;
  }

  #notePeak(closedAtMs: number, nowMs: number): void {
    this.#peak = Math.max(this.#peak, this.#recent.count(closedAtMs - 1_000, nowMs));
  }

  /**
   * Learns from a vendor that accepts again after it had refused.
   * @param refusedAtMs - when it began to refuse
   */
  reopen(refusedAtMs: number, nowMs: number): void {
    this.#notePeak(refusedAtMs, nowMs);
    const confirmMs = Math.max(CONFIRM_MS, CONFIRM_WINDOWS * this.#windowMs);
    this.#isConfirmed = refusedAtMs - this.#refusedAtMs < confirmMs;
    // Where the window is known, being closed for the rest of it is no news.
    const longMs = Math.max(LONG_CLOSED_MS, this.#windowMs / 2);
    if (nowMs - refusedAtMs >= longMs) this.#learnLong(refusedAtMs, nowMs);
    else this.#learnShort(refusedAtMs, nowMs);
    this.#refusedAtMs = refusedAtMs;
    this.#openedAtMs = nowMs;
    this.#acceptedSince = 0;
    this.#peak = 0;
    this.#tokens = 0;
  }

  #learnShort(refusedAtMs: number, nowMs: number): void {
    const known = this.#perSecond;
    if (known === undefined) return this.#setRefused(Math.max(MIN_FIRST, this.#peak), nowMs);
    const isSoon = refusedAtMs - this.#refusedAtMs < SOON_MS;
    this.#soonInRow = isSoon ? Math.min(this.#soonInRow + 1, DECREASES.length - 1) : 0;
    const isNear = known > NEAR_LAST * this.#ceiling;
    const ceiling = Math.min(known, this.#perWindow(refusedAtMs, nowMs));
    this.#setRefused(ceiling, nowMs, DECREASES[this.#soonInRow]);
    const isLow = known < FAR_BELOW * this.#highCeiling;
    if (!isLow || isNear || nowMs < this.#noNoiseUntilMs) return;
    this.#noise = FIRST_NOISE;
    this.#noiseUntilMs = nowMs + NOISE_MS;
    this.#ceiling = Number.POSITIVE_INFINITY;
    this.#perSecond = this.#highCeiling;
  }

  /**
   * A vendor that stays closed for long either counts over a long time, or was out of order.
   * Half its rate is a good guess while that is open; when it happens again soon, the time from one
   * opening to the next is its window, and what it accepted in the last of them is the limit.
   */
  #learnLong(refusedAtMs: number, nowMs: number): void {
    const isKnown = this.#windowMs > SHORT_WINDOW_MS;
    const isLimit = isKnown || refusedAtMs - this.#longClosedAtMs < CONFIRM_MS;
    const known = Math.min(this.#perSecond ?? Math.max(this.#peak, MIN_FIRST), this.#ceiling);
    const cycleMs = nowMs - (this.#openedAtMs ?? refusedAtMs);
    const windowMs = USUAL_WINDOWS_MS.find((ms) => ms <= cycleMs) ?? SHORT_WINDOW_MS;
    const allowed = this.#long.count(refusedAtMs - windowMs, nowMs);
    let average = Math.min(known, (allowed / windowMs) * 1_000);
    this.#longClosedAtMs = nowMs;
    this.#isConfirmed = isLimit;
    if (isLimit) {
      this.#windowMs = windowMs;
      average = Math.min(average, this.#perWindow(refusedAtMs, nowMs));
      // What an empty window took at once says nothing of the rate.
      this.#highCeiling = 0;
    }
    this.#setRefused(isLimit ? average : known, nowMs);
    const sure = isLimit ? MIN_PER_SECOND : known / 2;
    this.#perSecond = Math.max(sure, average);
  }

  /**
   * What a vendor of a known long window accepted per second from its last opening to this one,
   * when that is about one window: a fixed one is exactly that long.
   * @returns infinite where it is not
   */
  #perWindow(refusedAtMs: number, nowMs: number): number {
    const windowMs = this.#windowMs;
    const cycleMs = nowMs - (this.#openedAtMs ?? refusedAtMs);
    const isOne = cycleMs >= windowMs * SHORTEST_CYCLE && cycleMs < windowMs * LONGEST_CYCLE;
    if (windowMs === SHORT_WINDOW_MS || !isOne) return Number.POSITIVE_INFINITY;
    return (this.#acceptedSince / windowMs) * 1_000;
  }

  #setRefused(ceiling: number, nowMs: number, kept: number = DECREASES[0]): void {
    this.#ceiling = Math.max(MIN_PER_SECOND, ceiling);
    const isOld = nowMs - this.#highCeilingAtMs > CEILING_MEMORY_MS;
    if (isOld || this.#ceiling > this.#highCeiling) {
      this.#highCeiling = this.#ceiling;
      this.#highCeilingAtMs = nowMs;
    }
    this.#perSecond = Math.max(MIN_PER_SECOND, this.#ceiling * kept);
  }

  #refill(nowMs: number): void {
    const elapsedMs = this.#refilledAtMs === 0 ? 0 : Math.max(0, nowMs - this.#refilledAtMs);
    this.#refilledAtMs = nowMs;
    if (this.#perSecond === undefined) return;
    if (nowMs - this.#refusedAtMs > FORGET_MS) {
      this.#perSecond = undefined;
      this.#ceiling = Number.POSITIVE_INFINITY;
      this.#windowMs = SHORT_WINDOW_MS;
      return;
    }
    const isResting = nowMs - (this.#openedAtMs ?? nowMs) < REST_MS;
    const isPressed = !isResting && nowMs - this.#pressedAtMs < PRESSED_MS;
    const seconds = Math.min(elapsedMs, PRESSED_MS) / 1_000;
    if (isPressed) this.#perSecond += seconds * this.#increase(this.#perSecond, nowMs);
    const most = Math.max(1, this.#perSecond * BURST);
    this.#tokens = Math.min(most, this.#tokens + (elapsedMs / 1_000) * this.#perSecond);
  }

  /** How much the rate rises per second: fast far from the last refusal, slowly near to it. */
  #increase(perSecond: number, nowMs: number): number {
    if (nowMs < this.#noiseUntilMs) return perSecond;
    const share = perSecond / this.#ceiling;
    // Above the ceiling a refusal comes only when the vendor's window is full.
    const slowness = share > 1 ? this.#windowMs / SHORT_WINDOW_MS : 1;
    if (share < 0.93 || share > 1.15) {
      return Math.max(MIN_INCREASE, perSecond * STRIDE) / slowness;
    }
    if (!this.#isConfirmed) return perSecond * UNCONFIRMED_STEP;
    if (share > 1.03) return Math.max(MIN_INCREASE, perSecond * STEP) / slowness;
    const waitedMs = nowMs - (this.#openedAtMs ?? nowMs);
    const growth = (1 + (waitedMs * SHORT_WINDOW_MS) / this.#windowMs / CREEP_GROWTH_MS) ** 2;
    const creep = (perSecond * CREEP * growth) / Math.max(1, this.#windowMs / CREEP_WINDOW_MS);
    return Math.max(MIN_CREEP, creep);
  }
}

/** How many requests were accepted lately, in equal steps of time. */
class RecentCount {
  static readonly #steps = 128;
  readonly #counts = new Uint32Array(RecentCount.#steps);
  #step = 0;

  constructor(private readonly stepMs: number) {}

  add(nowMs: number): void {
    this.#advance(nowMs);
    const index = this.#step % RecentCount.#steps;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Accepted from `fromMs` until `untilMs`, as far back as 128 steps. */
  count(fromMs: number, untilMs: number): number {
    this.#advance(untilMs);
    const first = Math.max(0, Math.floor(fromMs / this.stepMs) + 1);
    let sum = 0;
    for (
      let step = Math.max(first, this.#step - RecentCount.#steps + 1);
      step <= this.#step;
      step++
    ) {
      sum += this.#counts[step % RecentCount.#steps] ?? 0;
    }
    return sum;
  }

  #advance(nowMs: number): void {
    const step = Math.floor(nowMs / this.stepMs);
    const skipped = Math.min(step - this.#step, RecentCount.#steps);
    for (let n = 0; n < skipped; n++) this.#counts[(step - n) % RecentCount.#steps] = 0;
    this.#step = Math.max(this.#step, step);
  }
}
