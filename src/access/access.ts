import { dirname, join, parse } from "node:path";
import type { Config } from "../config/index.ts";
import type { Database } from "../db/index.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createKeyService, type KeyService } from "./keys.ts";
import { createMeter, type Meter } from "./meter.ts";
import { loadPepper } from "./pepper.ts";
import { createSealer, type Sealer } from "./sealer.ts";
import { createMemoryWindow, type RateWindow } from "./window.ts";

/** Who may call, how often, and what it costs: everything the gate asks. */
export interface Access {
  readonly keys: KeyService;
  readonly window: RateWindow;
  readonly meter: Meter;
  /** Encrypts what is stored and must not be read from a copy of the database. */
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Requests per window of a key that has no limit of its own. */
  readonly defaultWindowLimit: number;
}

/** Sets up keys, windows and metering on an open database. */
export async function createAccess(
  database: Database,
  settings: Config["access"],
  clock: Clock = systemClock,
): Promise<Access> {
  const pepper = await loadPepper(pepperFile(database.file), database.settings);
  return {
    keys: createKeyService(database.keys, pepper, clock),
    window: createMemoryWindow(settings.windowMs, clock),
    meter: createMeter(database.usage, clock),
    sealer: createSealer(pepper),
    clock,
    defaultWindowLimit: settings.defaultWindowLimit,
  };
}

/** The key service on an open database; its pepper's file lies beside the database's. */
export async function openKeyService(
  database: Database,
  clock: Clock = systemClock,
): Promise<KeyService> {
  const pepper = await loadPepper(pepperFile(database.file), database.settings);
  return createKeyService(database.keys, pepper, clock);
}

function pepperFile(databaseFile: string | undefined): string | undefined {
  if (databaseFile === undefined) return undefined;
  return join(dirname(databaseFile), `${parse(databaseFile).name}.pepper`);
}
