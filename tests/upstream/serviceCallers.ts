import { seededRandom } from "../../src/lib/clock.ts";

const CALLERS = 48;
const SOCKETS = 8;
const BATCH_ITEMS = 10;

/** Sends JSON to the service and reads what comes. */
export function post(
  url: string,
  key: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  }).then((response) => response.json());
}

/** Whether every item of an answer is a result. */
export function isAnswered(body: unknown): boolean {
  const list = Array.isArray(body) ? body : [body];
  return list.every((one) => one !== null && typeof one === "object" && "result" in one);
}

/** What the callers of one run saw; each adds to it. */
class Counts {
  calls = 0;
  /** Answers that were neither a result nor cut off by the caller itself. */
  failed = 0;
  batches = 0;
  callersGone = 0;
  socketsOpened = 0;
  /** New heads told over sockets. */
  notifications = 0;
}
export type CallerCounts = Readonly<Counts>;

/** One caller: calls and batches one after the other, some of which it does not wait for. */
async function runCaller(url: string, key: string, seed: number, untilMs: number, counts: Counts) {
  const random = seededRandom(seed);
  const single = () => {
    const method = random() < 0.03 ? "eth_getLogs" : "eth_call";
    const filter = { fromBlock: "0x10", toBlock: "0x20", address: `0x${"ab".repeat(20)}` };
    const params =
      method === "eth_getLogs"
        ? [filter]
        : [{ to: `0x${"cd".repeat(20)}`, data: `0x${counts.calls.toString(16).padStart(8, "0")}` }];
    return { jsonrpc: "2.0", id: counts.calls++, method, params };
  };
  while (performance.now() < untilMs) {
    const isBatch = random() < 0.1;
    if (isBatch) counts.batches++;
    const leaves = random() < 0.03;
    const body = isBatch ? Array.from({ length: BATCH_ITEMS }, single) : single();
    const signal = leaves ? AbortSignal.timeout(1 + Math.floor(4 * random())) : undefined;
    try {
      if (!isAnswered(await post(url, key, body, signal))) counts.failed++;
    } catch {
      if (leaves) counts.callersGone++;
      else counts.failed++;
    }
  }
}

/** One socket after the other, each with a subscription, held for a moment and then dropped. */
async function runSockets(url: string, key: string, seed: number, untilMs: number, counts: Counts) {
  const random = seededRandom(seed);
  while (performance.now() < untilMs) {
    // Bun's client takes headers, which its DOM type does not know.
    const options = { headers: { "x-api-key": key } } as unknown as string[];
    const socket = new WebSocket(url.replace("http", "ws"), options);
    const closed = Promise.withResolvers<void>();
    socket.addEventListener("close", () => closed.resolve());
    socket.addEventListener("error", () => closed.resolve());
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes("eth_subscription")) counts.notifications++;
    });
    socket.addEventListener("open", () => {
      counts.socketsOpened++;
      const params = ["newHeads"];
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
    });
    await Promise.race([closed.promise, Bun.sleep(500 + 3_000 * random())]);
    socket.close();
    await closed.promise;
  }
}

if (import.meta.main) {
  const [url = "", key = "", forMs = "0"] = process.argv.slice(2);
  const counts = new Counts();
  const untilMs = performance.now() + Number(forMs);
  const run = (count: number, runner: typeof runCaller) =>
    Array.from({ length: count }, (_, index) => runner(url, key, index + 1, untilMs, counts));
  await Promise.all([...run(CALLERS, runCaller), ...run(SOCKETS, runSockets)]);
  process.stdout.write(JSON.stringify(counts));
  process.exit(0);
}
