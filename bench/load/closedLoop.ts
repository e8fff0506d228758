import type { Answer, LoadConnection } from "./connection.ts";
import type { Tally } from "./tally.ts";

/** Every connection sends its next request when the last one is answered. */
export async function runClosedLoop(
  connections: readonly LoadConnection[],
  next: () => string,
  tally: Tally,
  seconds: number,
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          let sentAt = 0;
          const send = () => {
            sentAt = performance.now();
            if (sentAt >= until || !connection.isOpen) return resolve();
            connection.send(next(), answered);
          };
          const answered = (answer: Answer | undefined) => {
            tally.add(answer, performance.now() - sentAt);
            send();
          };
          send();
        }),
    ),
  );
}
