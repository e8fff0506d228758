import { inArray, sql } from "drizzle-orm";
import { CONFIG_REVISION, KEYS_REVISION } from "../revisionNames.ts";
import type { Orm, PostgresConnection, Transaction } from "./connection.ts";
import { settings } from "./schema.ts";

type RevisionName = typeof KEYS_REVISION | typeof CONFIG_REVISION;

/** Counts a change; every process sees it when it looks next. */
export async function bump(tx: Transaction | Orm, name: RevisionName): Promise<void> {
  await tx
    .insert(settings)
    .values({ name, value: "1" })
    .onConflictDoUpdate({
      target: settings.name,
      set: { value: sql`(${settings.value}::bigint + 1)::text` },
    });
}

/** What this process knows of changes, and whom it tells of its own. */
export class Revisions {
  readonly #known = new Map<string, number>();
  readonly #listeners: (() => void)[] = [];

  constructor(private readonly connection: PostgresConnection) {}

  /** As of the last look. */
  get(name: RevisionName): number {
    return this.#known.get(name) ?? 0;
  }

  /** Looks whether any process changed anything. */
  async refresh(): Promise<void> {
    const { orm } = this.connection;
    const names = inArray(settings.name, [KEYS_REVISION, CONFIG_REVISION]);
    for (const { name, value } of await orm.select().from(settings).where(names)) {
      this.#known.set(name, Number(value));
    }
  }

  /** Called after a change of this process was committed, to tell the others. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Sees an own change at once, and has the others told. */
  async changed(): Promise<void> {
    await this.connection.repeatable(() => this.refresh());
    for (const listener of this.#listeners) listener();
  }
}
