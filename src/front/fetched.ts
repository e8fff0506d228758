import { Cancel } from "../lib/cancel.ts";
import { type Client, setClient } from "../lib/client.ts";
import type { FieldSource, PlainAnswer } from "../lib/http.ts";
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
  more: FieldSource | undefined;

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
      const response = await this.fetch(request);
      // An error has all its fields in itself.
      const more = response.headers.has("x-request-id") ? undefined : this.more;
      this.owner.answered(this, await plainOf(response, more));
    } catch {
      // The framework answers what goes wrong itself; an answer that breaks off has no other end.
      this.owner.broken(this);
    }
  }
}

async function plainOf(response: Response, more: FieldSource | undefined): Promise<PlainAnswer> {
  const { status } = response;
  let fields = "";
  for (const [name, value] of response.headers) {
    // The connection says these itself.
    if (name !== "content-length" && name !== "date") fields += `${name}: ${value}\r\n`;
  }
  const body = await response.bytes();
  return { status, fields, ...(more && { more }), errorCode: undefined, body };
}
