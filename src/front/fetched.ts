import { Cancel } from "../lib/cancel.ts";
import { type Client, setClient } from "../lib/client.ts";
import type { PlainAnswer } from "../lib/http.ts";
import type { CallOwner } from "./call.ts";
import type { FrontHead } from "./head.ts";

/** Nobody reads it; the framework finds no path behind a very short name. */
const ORIGIN = "http://localhost";

/** Answers a request of the runtime's kind. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * A request without a body that the framework answers in this process, which costs less than a
 * second connection to its own server. Checks and charges are the framework's gate's.
 */
export class FetchedCall extends Cancel implements Client {
  readonly peer;

  constructor(
    private readonly owner: CallOwner,
    readonly head: FrontHead,
  ) {
    super();
    this.peer = owner.peer;
  }

  async run(fetch: Fetch): Promise<void> {
    const { target, fields, method } = this.head;
    const headers = Object.fromEntries(fields);
    const request = new Request(`${ORIGIN}${target}`, { method, headers });
    setClient(request, this);
    try {
      this.owner.answered(this, await plainOf(await fetch(request)));
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
