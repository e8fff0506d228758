import { bigint, customType } from "drizzle-orm/pg-core";

/** A whole number up to 2^53: times in ms, chain ids, counts. */
export const whole = (name: string) => bigint(name, { mode: "number" });

/** JSON kept as the text it was written as, so that it reads back member by member. */
export const jsonText = <Value>(name: string) =>
  customType<{ data: Value; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (text): Value => JSON.parse(text),
  })(name);

/** An amount in atomic units, as decimal text. */
export const atomicAmount = customType<{ data: bigint; driverData: string }>({
  dataType: () => "text",
  toDriver: String,
  fromDriver: BigInt,
});
