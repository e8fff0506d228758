import { Cancel } from "../lib/cancel.ts";
import { type Client, setClient } from "../lib/client.ts";
import type { PlainAnswer } from "../lib/http.ts";
import type { CallOwner, Pending } from "./call.ts";
import type { FrontHead } from "./head.ts";

/** Nobody reads it; the framework finds no path behind a very short name. */
const ORIGIN = "http://localhost";

/** Answers a request of the runtime's kind. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * A request that the framework answers in this process, which costs less than a second connection
 * to its own server. Checks and charges are the framework's gate's.
 */
export class FetchedCall extends Cancel implements Client, Pending {
  readonly peer;

  constructor(
    private readonly owner: CallOwner,
    private readonly fetch: Fetch,
    readonly head: FrontHead,
  ) {
    super();
    this.peer = owner.peer;
  }

  check(): void {
    this.owner.admitted(this);
  }

  answer(bytes: Buffer, bodyAt: number): void {
    const { target, fields, method } = this.head;
    const headers = Object.fromEntries(fields);
    const body = () => new Uint8Array(bytes.subarray(bodyAt));
    const init = method === "GET" ? { headers } : { method, headers, body: body() };
    const request = new Request(`${ORIGIN}${target}`, init);
    setClient(request, this);
    void this.#run(request);
  }

  /** What is too large is the other server's to refuse. */
  refuseBody(): void {
    this.owner.broken(this);
  }

  async #run(request: Request): Promise<void> {
    try {
      this.owner.answered(this, await plainOf(await this.fetch(request)));
    } catch {
      // The framework answers what goes wrong itself; an answer that breaks off has no other end.
      this.owner.broken(this);
    }
  }
}

async function plainOf(response: Response): Promise<PlainAnswer> {
  const { status } = response;
  let fields = "";
  for (const [name, value] of response.headers) {
    // The connection says these itself.
    if (name !== "content-length" && name !== "date") fields += `${name}: ${value}\r\n`;
  }
  return { status, fields, errorCode: undefined, body: await response.bytes() };
}
