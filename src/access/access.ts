import { dirname, join, parse } from "node:path";
import type { Config, PepperSource } from "../config/index.ts";
import type { Database } from "../db/index.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type AdminToken, createAdminToken } from "./adminToken.ts";
import { type ActivityLog, createActivityLog } from "./activity.ts";
import { createKeyService, type KeyService } from "./keys.ts";
import { createMeter, type Meter } from "./meter.ts";
import { loadPepper } from "./pepper.ts";
import { createSealer, type Sealer } from "./sealer.ts";
import { createSigner, type Signer } from "./signer.ts";
import { createMemoryWindow, type RateWindow } from "./window.ts";

/** Who may call, how often, and what it costs: everything the gate asks. */
export interface Access {
  readonly keys: KeyService;
  readonly window: RateWindow;
  readonly meter: Meter;
  /** Encrypts what is stored and must not be read from a copy of the database. */
  readonly sealer: Sealer;
  readonly adminToken: AdminToken;
  /** Signs what the console gives browsers to keep. */
  readonly signer: Signer;
  /** What keys were last seen doing. */
  readonly activity: ActivityLog;
  readonly clock: Clock;
  /** Requests per window of a key that has no limit of its own; as configured now. */
  readonly defaultWindowLimit: number;
  /** While the process drains, every answer asks for its connection to be closed. */
  isDraining: boolean;
}

/**
 * Sets up keys, windows and metering on an open database.
 * @param settings - read when needed, so that limits may change while the process runs
 */
export async function createAccess(
  database: Database,
  settings: Config["access"],
  clock: Clock = systemClock,
  window: RateWindow = createMemoryWindow(settings.windowMs, clock),
): Promise<Access> {
  const pepper = await openPepper(database, settings.pepper);
  return {
    keys: createKeyService(database.keys, pepper, clock),
    window,
    meter: createMeter(database.usage, clock),
    sealer: createSealer(pepper),
    adminToken: createAdminToken(database.settings, pepper),
    signer: createSigner(pepper),
    activity: createActivityLog(database.activity, clock),
    clock,
    get defaultWindowLimit() {
      return settings.defaultWindowLimit;
    },
    isDraining: false,
  };
}

/** The key service alone, on an open database. */
export async function openKeyService(
  database: Database,
  pepper: PepperSource = {},
  clock: Clock = systemClock,
): Promise<KeyService> {
  return createKeyService(database.keys, await openPepper(database, pepper), clock);
}

/** The pepper of a database: the configured one, else that of a file beside the database's. */
function openPepper(database: Database, configured: PepperSource): Promise<Uint8Array> {
  const { file } = database;
  const beside = file && join(dirname(file), `${parse(file).name}.pepper`);
  const source = configured.hex || configured.file || !beside ? configured : { file: beside };
  return loadPepper(source, database.settings);
}
