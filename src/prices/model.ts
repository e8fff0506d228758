import { type TSchema, Type } from "@sinclair/typebox";
import type { AssetTable } from "./assets.ts";

/** The prices object: one key per asset, without a success wrapper. */
export type Prices = Readonly<Record<string, { readonly usd: number }>>;

/** The schema of the prices object of these assets. */
export function pricesSchema(assets: AssetTable): TSchema {
  const price = Type.Object({ usd: Type.Number({ description: "Spot price in USD." }) });
  return Type.Object(Object.fromEntries(Object.keys(assets).map((symbol) => [symbol, price])));
}
