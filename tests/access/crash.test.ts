import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/db/index.ts";
import { ledger, temporaryDirectory } from "./support.ts";

const WANTED_ANSWERS = 2_000;

test("a server killed under load has every answered request in its ledger", async () => {
  using directory = temporaryDirectory();
  const url = `file:${join(directory.path, "causeway.db")}`;
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "meteredServer.ts"), url], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the server ended before it was ready");
    text += new TextDecoder().decode(value);
  }
  const { origin, keyId, secret } = JSON.parse(text);

  let [sent, answered] = [0, 0];
  const client = async () => {
    for (;;) {
      sent++;
      try {
        const response = await fetch(`${origin}/api/public/prices`, {
          headers: { "x-api-key": secret },
        });
        if (response.status === 200) answered++;
        await response.bytes();
      } catch {
        return;
      }
      if (answered >= WANTED_ANSWERS) child.kill("SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  await child.exited;

  expect(answered).toBeGreaterThanOrEqual(WANTED_ANSWERS);
  const database = openDatabase(url);
  const { requests, cu } = await ledger(database, keyId);
  database.close();
  expect(requests).toBeGreaterThanOrEqual(answered);
  expect(requests).toBeLessThanOrEqual(sent);
  expect(cu).toBe(requests);
}, 30_000);
