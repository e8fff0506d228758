/** How late a timer may be beside what the runtime's own timers are, ms. */
const TICK_MS = 10;
/** Timers due further ahead than this many ticks are looked at once per turn of the wheel. */
const SLOTS = 512;

/** What a timer is set for; an object that is there already costs less than a function for it. */
export interface TimerTask {
  /** Must not throw. */
  due(): void;
}

/** A timer that was set. */
export interface WheelTimer {
  /** Takes it back; does nothing once it ran. */
  clear(): void;
}

/**
 * Timers for what is nearly always taken back before it is due, such as the deadlines of requests:
 * setting and clearing one costs a few writes, and one timer of the runtime serves them all. They
 * are never early, and late by up to 10 ms.
 */
export class TimerWheel {
  /** Per slot a ring of entries; the entry in the array is its anchor. */
  readonly #slots: Entry[] = Array.from({ length: SLOTS }, () => new Entry());
  #count = 0;
  /** Last tick whose slot was looked at. */
  #tick = 0;
  #turning = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Runs `task` once, `ms` from now; `task` must not throw. */
  set(ms: number, task: () => void): WheelTimer {
    return this.setFor(ms, { due: task });
  }

  /** As `set`. @param nowMs - the time, where it is known */
  setFor(ms: number, task: TimerTask, nowMs = this.now()): WheelTimer {
    if (!this.#turning) this.#start(nowMs);
    const dueTick = Math.max(this.#tick + 1, Math.ceil((nowMs + ms) / TICK_MS));
    const entry = new Entry(this, dueTick, task);
    this.#slots[dueTick % SLOTS]?.append(entry);
    this.#count++;
    return entry;
  }

  /** Called by entries that leave the wheel. */
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
    const due: Entry[] = [];
    for (let tick = first; tick <= nowTick; tick++) {
      this.#slots[tick % SLOTS]?.collect(nowTick, due);
    }
    this.#tick = nowTick;
    if (this.#count > 0) this.#schedule();
    else this.#turning = false;
    for (const entry of due) entry.run();
  }
}

/** A timer in its slot's ring. */
class Entry implements WheelTimer {
  #previous: Entry = this;
  #next: Entry = this;

  constructor(
    private wheel?: TimerWheel,
    readonly dueTick = 0,
    private task?: TimerTask,
  ) {}

  append(entry: Entry): void {
    entry.#previous = this.#previous;
    entry.#next = this;
    this.#previous.#next = entry;
    this.#previous = entry;
  }

  /** Adds the entries of this ring that are due to `due`; they stay until they run. */
  collect(tick: number, due: Entry[]): void {
    for (let entry = this.#next; entry !== this; entry = entry.#next) {
      if (entry.dueTick <= tick) due.push(entry);
    }
  }

  run(): void {
    const { task } = this;
    this.clear();
    task?.due();
  }

  clear(): void {
    if (!this.wheel) return;
    this.#previous.#next = this.#next;
    this.#next.#previous = this.#previous;
    this.wheel.drop();
    this.wheel = undefined;
    this.task = undefined;
  }
}

/** The process's wheel. */
export const timers = new TimerWheel();
