import { Ring, RingItem } from "./ring.ts";

/** How late a timer may be beside what the runtime's own timers are, ms. */
const TICK_MS = 10;
/** Timers due further ahead than this many ticks are looked at once per turn of the wheel. */
const SLOTS = 512;

/**
 * Timers for what is nearly always taken back before it is due, such as the deadlines of requests:
 * setting and clearing one costs a few writes, and one timer of the runtime serves them all. They
 * are never early, and late by up to 10 ms.
 */
export class TimerWheel {
  readonly #slots = Array.from({ length: SLOTS }, () => new Ring<Timer>());
  #count = 0;
  /** Last tick whose slot was looked at. */
  #tick = 0;
  #turning = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Runs `task` once, `ms` from now; `task` must not throw. */
  set(ms: number, task: () => void): Timer {
    const timer = new TaskTimer(task);
    this.start(timer, ms);
    return timer;
  }

  /** Has a timer run `ms` from now. @param nowMs - the time, where it is known */
  start(timer: Timer, ms: number, nowMs = this.now()): void {
    if (!this.#turning) this.#start(nowMs);
    const dueTick = Math.max(this.#tick + 1, Math.ceil((nowMs + ms) / TICK_MS));
    timer.clear();
    timer.enter(this, dueTick);
    this.#slots[dueTick % SLOTS]?.add(timer);
    this.#count++;
  }

  /** Called by timers that leave the wheel. */
  drop(): void {
    this.#count--;
  }

  #start(nowMs: number): void {
    this.#turning = true;
    this.#tick = Math.floor(nowMs / TICK_MS);
    this.#schedule();
  }

  #schedule(): void {
    setTimeout(() => this.#turn(), TICK_MS);
  }

  #turn(): void {
    const nowTick = Math.floor(this.now() / TICK_MS);
    // After a pause longer than the wheel is round, each slot is looked at once.
    const first = Math.max(this.#tick + 1, nowTick - SLOTS + 1);
    const due: Timer[] = [];
    for (let tick = first; tick <= nowTick; tick++) {
      const timers = this.#slots[tick % SLOTS]?.list() ?? [];
      for (const timer of timers) if (timer.isDue(nowTick)) due.push(timer);
    }
    this.#tick = nowTick;
    if (this.#count > 0) this.#schedule();
    else this.#turning = false;
    for (const timer of due) timer.run(nowTick);
  }
}

/**
 * A timer of a wheel, which runs it once. What is waited for most often is a timer itself, so that
 * waiting makes no object.
 */
export class Timer extends RingItem {
  #wheel: TimerWheel | undefined;
  #dueTick = 0;

  /** It is due; must not throw. */
  due(): void {}

  /** Takes it back; does nothing once it ran, or while it is not set. */
  clear(): void {
    if (!this.#wheel) return;
    this.leaveRing();
    this.#wheel.drop();
    this.#wheel = undefined;
  }

  /** Called by the wheel it is started in. */
  enter(wheel: TimerWheel, dueTick: number): void {
    this.#wheel = wheel;
    this.#dueTick = dueTick;
  }

  isDue(tick: number): boolean {
    return this.#dueTick <= tick;
  }

  /** Runs it, unless it was taken back, or set anew, meanwhile. */
  run(tick: number): void {
    if (!this.#wheel || this.#dueTick > tick) return;
    this.clear();
    this.due();
  }
}

class TaskTimer extends Timer {
  constructor(private readonly task: () => void) {
    super();
  }

  override due(): void {
    this.task();
  }
}

/** The process's wheel. */
export const timers = new TimerWheel();
