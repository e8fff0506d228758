import { controlResponse } from "./control.ts";
import { Ledger } from "./ledger.ts";
import { openListener, toResponse } from "./listener.ts";
import { methodsOf, parseBody } from "./messages.ts";
import type { Fault } from "./model.ts";
import { faultOutcome, forwardOutcome, type Outcome } from "./outcome.ts";
import { FaultScript } from "./script.ts";

/** A node in front of a chain that forwards JSON-RPC and misbehaves on demand. */
export interface FaultNode {
  readonly url: string;
  readonly port: number;
  /** Where `POST /faults` still answers while the node is down; undefined without such a port. */
  readonly controlUrl: string | undefined;
  readonly ledger: Ledger;
  /** Faults that can still hit, with the number of their hits so far. */
  faults(): readonly { readonly fault: Fault; readonly hits: number }[];
  /**
   * Replaces the script; `[]` makes the node behave. Settles once the listener is open or closed
   * as the script says.
   * @param seed - of every random choice
   */
  setFaults(faults: readonly Fault[], seed?: number): Promise<void>;
  /** Cuts every connection and refuses new ones. */
  stop(): Promise<void>;
  /** Accepts connections again, on the same port. */
  restart(): void;
}

export interface FaultNodeOptions {
  /** URL of the chain. */
  readonly target: string;
  /** 0, the default, picks a free port. */
  readonly port?: number;
  /** Also opens a control port, on a free port when 0. */
  readonly controlPort?: number;
}

/** Starts a forwarding node. Its own port answers `/faults` and `/ledger` too. */
export function startFaultNode(options: FaultNodeOptions): FaultNode {
  const script = new FaultScript();
  const ledger = new Ledger();
  let reopening: ReturnType<typeof setTimeout> | undefined;
  const listener = openListener(
    options.port ?? 0,
    async (request) => (await controlResponse(node, request)) ?? serve(request),
  );
  const control =
    options.controlPort === undefined
      ? undefined
      : openListener(
          options.controlPort,
          async (request) =>
            (await controlResponse(node, request)) ?? new Response("Not Found", { status: 404 }),
        );

  async function serve(request: Request): Promise<Response> {
    const text = await request.text();
    const body = parseBody(text);
    const methods = methodsOf(body);
    const hits = script.hit(methods);
    const end = ledger.begin(methods, hits.kinds());
    const delay = hits.get("delay");
    if (delay) await Bun.sleep(delay.ms + script.random() * (delay.jitterMs ?? 0));
    const outcome =
      faultOutcome(hits, body) ??
      (await forwardOutcome(hits, options.target, text, body).catch(unreachable));
    const response = await toResponse(outcome, request);
    end();
    return response;
  }

  const node: FaultNode = {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    controlUrl: control && `http://127.0.0.1:${control.port}`,
    ledger,
    faults: () => script.active(),
    async setFaults(faults, seed) {
      clearTimeout(reopening);
      script.set(faults, seed);
      const down = faults.find(({ kind }) => kind === "down");
      if (!down) {
        listener.open();
        return;
      }
      await listener.close();
      if (down.forMs === undefined) return;
      reopening = setTimeout(() => listener.open(), down.forMs);
      reopening.unref();
    },
    async stop() {
      clearTimeout(reopening);
      await Promise.all([listener.close(), control?.close()]);
    },
    restart() {
      listener.open();
      control?.open();
    },
  };
  return node;
}

/** The chain itself is gone: what a node's own proxy answers then. */
function unreachable(): Outcome {
  return { kind: "respond", status: 502, body: "Bad Gateway" };
}
