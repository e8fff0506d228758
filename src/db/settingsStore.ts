import { eq } from "drizzle-orm";
import { settings } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { SettingsStore } from "./types.ts";

/** Single values in SQLite. */
export function createSettingsStore({ orm }: SqliteConnection): SettingsStore {
  const get = (name: string) =>
    orm.select().from(settings).where(eq(settings.name, name)).get()?.value;
  return {
    get,
    set(name, value) {
      orm
        .insert(settings)
        .values({ name, value })
        .onConflictDoUpdate({ target: settings.name, set: { value } })
        .run();
    },
    setOnce(name, value) {
      orm.insert(settings).values({ name, value }).onConflictDoNothing().run();
      return get(name) ?? value;
    },
  };
}
