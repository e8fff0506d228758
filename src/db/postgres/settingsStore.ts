import { eq } from "drizzle-orm";
import type { SettingsStore } from "../types.ts";
import type { PostgresConnection } from "./connection.ts";
import { settings } from "./schema.ts";

/** Single values in Postgres. */
export function createSettingsStore({ orm, repeatable }: PostgresConnection): SettingsStore {
  const get = async (name: string) => {
    const [row] = await orm.select().from(settings).where(eq(settings.name, name));
    return row?.value;
  };
  return {
    get: (name) => repeatable(() => get(name)),
    set: (name, value) =>
      repeatable(async () => {
        await orm
          .insert(settings)
          .values({ name, value })
          .onConflictDoUpdate({ target: settings.name, set: { value } });
      }),
    setOnce: (name, value) =>
      repeatable(async () => {
        await orm.insert(settings).values({ name, value }).onConflictDoNothing();
        return (await get(name)) ?? value;
      }),
  };
}
