import { Elysia } from "elysia";
import { describeOperation, operations, setChargedChain } from "../access/index.ts";
import { dataResponse, readJson } from "../lib/http.ts";
import { buildTxDoc, dexesDoc, quoteDoc } from "./docs.ts";
import { BuildTxRequestSchema, QuoteRequestSchema } from "./model.ts";
import type { SwapService } from "./service.ts";

/** POST /swap/quote, POST /swap/build-tx and GET /swap/dexes. */
export function swapRoutes(service: SwapService, { maxBodyBytes }: { maxBodyBytes: number }) {
  let catalog = { dexes: service.dexes(), text: "" };
  const catalogText = () => {
    const dexes = service.dexes();
    if (catalog.text === "" || catalog.dexes !== dexes) {
      catalog = { dexes, text: JSON.stringify({ success: true, data: dexes }) };
    }
    return catalog.text;
  };
  const readQuoteRequest = (request: Request) =>
    readJson(request, QuoteRequestSchema, { maxBytes: maxBodyBytes, missing: missingQuoteField });
  const readBuildTxRequest = (request: Request) =>
    readJson(request, BuildTxRequestSchema, { maxBytes: maxBodyBytes, missing: missingBuildField });

  return new Elysia({ name: "swap" })
    .post(
      operations.quote.path,
      async ({ request }) => {
        const quote = await service.quote(await readQuoteRequest(request));
        setChargedChain(request, quote.chainId);
        return dataResponse(quote);
      },
      describeOperation("quote", quoteDoc),
    )
    .post(
      operations["build-tx"].path,
      async ({ request }) => {
        const built = await service.buildTx(await readBuildTxRequest(request));
        setChargedChain(request, built.swap.chainId);
        return dataResponse(built);
      },
      describeOperation("build-tx", buildTxDoc),
    )
    .get(
      operations.dexes.path,
      () => new Response(catalogText(), { headers: { "content-type": "application/json" } }),
      describeOperation("dexes", dexesDoc),
    );
}

const missingQuoteField = () => "Missing required fields";
const missingBuildField = (field: string) => `Missing ${field}`;
