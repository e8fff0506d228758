import type { Chain } from "../../chains/index.ts";
import type { Config } from "../../config/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { SingleFlight } from "../../lib/singleFlight.ts";
import { parseRouteFees, type RouteFees } from "../fees.ts";
import { cctpOf } from "../words.ts";
import { type AttestedMessage, parseMessages } from "./answer.ts";
import { createBudget, type RequestBudget } from "./budget.ts";

/** What asking the attestation service came to. */
export type Asked<Value> =
  | { readonly kind: "answer"; readonly value: Value }
  /** Not asked: the budget is used up for now. */
  | { readonly kind: "later" }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Circle's attestation service ("Iris"), API v2. */
export interface AttestationClient {
  /** Messages of a burn; none while the service has not seen it. */
  messages(from: Chain, transactionHash: string): Promise<Asked<readonly AttestedMessage[]>>;
  /** Asks for a fresh signature under a message that expired. */
  reattest(from: Chain, nonce: string): Promise<Asked<undefined>>;
  /**
   * What a route costs now, at most a few seconds old.
   * @param recipientSetup - the forwarder must also make the recipient's token account
   * @returns undefined when the service does not say
   */
  fees(from: Chain, to: Chain, recipientSetup: boolean): Promise<RouteFees | undefined>;
  /** After a 429 nobody asks anything for a while. */
  isResting(): boolean;
}

/** A quote is not older than this when it is used. */
const QUOTE_MAX_AGE_MS = 10_000;
const MAX_QUOTES = 1_000;
const MAX_BODY_CHARACTERS = 1_048_576;
/** Quotes and the rare request for a new attestation come beside the polling. */
const UNPOLLED_PER_SECOND = 10;

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** A client whose requests of all transfers together keep to the budget. */
export function createAttestationClient(
  config: Config["bridge"]["attestation"],
  clock: Clock,
): AttestationClient {
  const polling = createBudget(config.requestsPerSecond, clock);
  const unpolled = createBudget(UNPOLLED_PER_SECOND, clock);
  const quotes = new Map<string, { readonly at: number; readonly fees: RouteFees }>();
  const quoteFlights = new SingleFlight<RouteFees | undefined>();

  async function ask(
    budget: RequestBudget,
    chain: Chain,
    path: string,
    method: "GET" | "POST" = "GET",
  ): Promise<Asked<Reply>> {
    if (polling.isResting() || !budget.tryTake()) return { kind: "later" };
    try {
      const response = await fetch(config.urls[chain.environment] + path, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(config.timeoutMs),
      });
      const text = await response.text();
      if (response.status === 429) {
        const retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1_000;
        polling.rest(Math.max(config.restMs, Number.isFinite(retryAfterMs) ? retryAfterMs : 0));
        return { kind: "unavailable", reason: "the attestation service answers 429" };
      }
      if (response.status >= 500 || text.length > MAX_BODY_CHARACTERS) {
        return {
          kind: "unavailable",
          reason: `the attestation service answers ${response.status}`,
        };
      }
      return { kind: "answer", value: { status: response.status, body: parse(text) } };
    } catch (error) {
      const reason = error instanceof Error ? error.name : "failed";
      return { kind: "unavailable", reason: `the attestation service does not answer: ${reason}` };
    }
  }

  async function quote(from: Chain, to: Chain, recipientSetup: boolean) {
    const path = `/v2/burn/USDC/fees/${cctpOf(from).domain}/${cctpOf(to).domain}`;
    const query = recipientSetup ? "?forward=true&includeRecipientSetup=true" : "?forward=true";
    const key = `${from.environment}${path}${query}`;
    const known = quotes.get(key);
    if (known && clock.monotonic() - known.at < QUOTE_MAX_AGE_MS) return known.fees;
    return quoteFlights.run(key, async () => {
      const at = clock.monotonic();
      const asked = await ask(unpolled, from, path + query);
      const fees = asked.kind === "answer" ? parseRouteFees(asked.value.body) : undefined;
      if (quotes.size >= MAX_QUOTES) quotes.clear();
      if (fees) quotes.set(key, { at, fees });
      return fees;
    });
  }

  return {
    fees: quote,
    isResting: polling.isResting,
    async messages(from, transactionHash) {
      const path = `/v2/messages/${cctpOf(from).domain}?transactionHash=${transactionHash}`;
      const asked = await ask(polling, from, path);
      return asked.kind === "answer"
        ? { kind: "answer", value: parseMessages(asked.value.body) }
        : asked;
    },
    async reattest(from, nonce) {
      const asked = await ask(unpolled, from, `/v2/reattest/${nonce}`, "POST");
      return asked.kind === "answer" ? { kind: "answer", value: undefined } : asked;
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
