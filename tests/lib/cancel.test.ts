import { expect, test } from "bun:test";
import { Cancel, cancelWith } from "../../src/lib/cancel.ts";

test("listeners are called once, in order, with the reason set", () => {
  const cancel = new Cancel();
  const heard: unknown[] = [];
  for (const name of ["a", "b", "c"]) {
    cancel.addEventListener("abort", () => heard.push([name, cancel.aborted, cancel.reason]));
  }
  cancel.abort("why");
  cancel.abort("again");
  expect(heard).toEqual(["a", "b", "c"].map((name) => [name, true, "why"]));
  expect(() => cancel.throwIfAborted()).toThrow("why");
});

test("a listener that was removed, or came too late, hears nothing", () => {
  const cancel = new Cancel();
  let heard = 0;
  const [first, second] = [() => void heard++, () => void heard++];
  cancel.addEventListener("abort", first);
  cancel.addEventListener("abort", second);
  cancel.removeEventListener("abort", first);
  cancel.removeEventListener("abort", second);
  cancel.abort();
  cancel.addEventListener("abort", first);
  expect(heard).toBe(0);
});

test("without a reason it is an AbortError, as the runtime's", () => {
  const cancel = new Cancel();
  cancel.abort();
  expect(cancel.reason).toMatchObject({ name: "AbortError" });
});

test("one that follows a signal ends with it, before or after, and not the other way round", () => {
  const controller = new AbortController();
  const follower = cancelWith(controller.signal);
  controller.abort("gone");
  expect([follower.aborted, follower.reason]).toEqual([true, "gone"]);
  expect(cancelWith(controller.signal).aborted).toBe(true);
  const own = new Cancel();
  cancelWith(own).abort();
  expect(own.aborted).toBe(false);
  expect(cancelWith(undefined).aborted).toBe(false);
});
