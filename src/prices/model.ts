import { type Static, type TObject, Type } from "@sinclair/typebox";
import { type AssetSymbol, assetSymbols } from "./assets.ts";

const SpotPrice = Type.Object({ usd: Type.Number({ description: "Spot price in USD." }) });

/** The prices object: one key per asset, without a success wrapper. */
export const PricesSchema = Type.Object(
  Object.fromEntries(assetSymbols.map((symbol) => [symbol, SpotPrice])),
) as TObject<Record<AssetSymbol, typeof SpotPrice>>;

export type Prices = Static<typeof PricesSchema>;
