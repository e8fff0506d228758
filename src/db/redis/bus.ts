import type { RedisClient } from "bun";
import { createRedisLink, type RedisLink } from "./link.ts";

/** Tells all replicas that something changed. Messages may be lost or come twice. */
export interface ChangeBus {
  /** Tells the others, and this process too. Does nothing while Redis is away. */
  announce(): void;
  start(): Promise<void>;
  close(): void;
}

export interface ChangeBusOptions {
  readonly url: string;
  /** Sends the announcements: a connection that subscribed may do nothing else. */
  readonly sender: Pick<RedisLink, "send">;
  /** Called for every announcement, and whenever some may have been missed. */
  readonly onChange: () => void;
}

const CHANNEL = "causeway:changes";

/** A bus over Redis' pub/sub. */
export function createChangeBus({ url, sender, onChange }: ChangeBusOptions): ChangeBus {
  const link = createRedisLink({
    url,
    async prepare(client: RedisClient) {
      await client.subscribe(CHANNEL, onChange);
      // What was announced while there was no subscription was not heard.
      onChange();
    },
  });
  return {
    announce() {
      sender.send("PUBLISH", [CHANNEL, "changed"]).catch(() => undefined);
    },
    start: link.start,
    close: link.close,
  };
}
