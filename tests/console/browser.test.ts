import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Stack, startStack } from "../app/stack.ts";
import { describeInBrowser, hasBrowser } from "../support/installed.ts";
import { injectWallet, launchBrowser, openConsole, type WatchedPage } from "./browser.ts";

/** Generous, because the page asks in steps of seconds and the machine may be busy. */
const PATIENCE_MS = 20_000;
const TEST_TIMEOUT_MS = 120_000;

let stack: Stack;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser) return;
  [stack, browser] = await Promise.all([startStack([5042, 84532]), launchBrowser()]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const quoteWith = (secret: string) =>
  fetch(`${stack.service.base}/swap/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000" }),
  });

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const navigate = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
/** Waits for something to be seen; says what was there instead. */
async function shows(locator: Locator): Promise<void> {
  try {
    await locator.first().waitFor({ timeout: PATIENCE_MS });
  } catch (cause) {
    const shown = await locator.page().locator("body").innerText();
    throw new Error(`${String(cause)}\nThe page shows:\n${shown}`, { cause });
  }
}

async function newPage(account = privateKeyToAccount(generatePrivateKey())): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(PATIENCE_MS);
  await injectWallet(context, account, 5042);
  return openConsole(context, stack.service.origin);
}

async function signInAsOperator(page: Page): Promise<void> {
  await page.getByText("Sign in as the operator").click();
  await page.getByLabel("Admin token").fill("test-admin-token");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await shows(page.getByRole("heading", { name: "Overview" }));
}

/** The secret a dialog shows; closes it. */
async function takeSecret(page: Page): Promise<string> {
  const secret = await page.getByTestId("secret").innerText();
  await button(page, "I have kept it").click();
  return secret;
}

/** Sums up in `body[data-shift]` how far things moved that nobody touched (Layout Instability). */
async function watchShifts(page: Page): Promise<void> {
  await page.evaluate(() => {
    let sum = 0;
    document.body.dataset["shift"] = "0";
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value = 0, hadRecentInput = false } = entry as unknown as {
          value?: number;
          hadRecentInput?: boolean;
        };
        if (!hadRecentInput) sum += value;
      }
      document.body.dataset["shift"] = String(Math.round(sum * 100) / 100);
    });
    observer.observe({ type: "layout-shift" });
  });
}

describeInBrowser("in a browser", () => {
  test(
    "a developer signs in, makes a key, uses it, sees the use, rotates, revokes, is refused",
    async () => {
      const account = privateKeyToAccount(generatePrivateKey());
      const { page, faults } = await newPage(account);
      await button(page, "Sign in with Test Wallet").click();
      await shows(page.getByText("Create your first key"));
      await page.getByRole("link", { name: "Create key" }).click();
      await page.getByLabel("Name").fill("shop");
      await button(page, "Create key").last().click();
      const secret = await takeSecret(page);
      expect(secret).toMatch(/^sk_test_[0-9a-f]{48}$/);

      await navigate(page, "Try it");
      await button(page, "Send request").click();
      await shows(page.getByRole("status").filter({ hasText: "200" }));
      await shows(page.getByText('"outputAmount"'));
      await shows(page.getByText("x-cu-cost"));

      await navigate(page, "Usage");
      await shows(page.locator(".stat", { hasText: "Requests" }).getByText("1", { exact: true }));
      expect((await quoteWith(secret)).status).toBe(200);
      await shows(page.locator(".stat", { hasText: "Requests" }).getByText("2", { exact: true }));
      await shows(page.getByRole("row", { name: /quote Arc 2 4/ }));

      await navigate(page, "API keys");
      await button(page, "Rotate shop").click();
      await page.getByLabel("The old secret ends").selectOption({ label: "after 1 hour" });
      await button(page, "Rotate key").click();
      const newer = await takeSecret(page);
      expect(newer).not.toBe(secret);
      await shows(page.getByText(`old secret …${secret.slice(-4)} ends in`));
      expect((await quoteWith(secret)).status).toBe(200);
      expect((await quoteWith(newer)).status).toBe(200);

      await button(page, "Revoke shop").click();
      await button(page, "Cancel").click();
      expect((await quoteWith(newer)).status).toBe(200);
      await button(page, "Revoke shop").click();
      await button(page, "Revoke key").click();
      await shows(page.getByText("revoked", { exact: true }));
      for (const each of [secret, newer]) expect((await quoteWith(each)).status).toBe(401);

      await button(page, "Sign out").click();
      await shows(page.getByRole("heading", { name: "Developer console" }));
      expect(faults).toEqual([]);
      await page.context().close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "errors show up with their code and what to do",
    async () => {
      const { page, faults } = await newPage();
      await button(page, "Sign in with Test Wallet").click();
      await page.getByRole("link", { name: "Create key" }).click();
      await page.getByRole("dialog").getByLabel("swaps").uncheck();
      await button(page, "Create key").last().click();
      const secret = await takeSecret(page);
      expect((await quoteWith(secret)).status).toBe(403);
      await navigate(page, "Errors");
      await shows(page.getByRole("link", { name: "SCOPE_REQUIRED" }));
      await shows(page.getByText("Use a key that was granted the scope named in the message."));
      expect(faults).toEqual([]);
      await page.context().close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "the operator watches a node go down and come back",
    async () => {
      const { page, faults } = await newPage();
      await signInAsOperator(page);
      await navigate(page, "Upstreams");
      const host = new URL(stack.nodes[1]!.url).host;
      const row = page.getByRole("row").filter({ hasText: host });
      const { secret } = await stack.service.key();
      const call = () =>
        fetch(`${stack.service.base}/rpc/5042`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
        });
      await call();
      await shows(row.getByText("active", { exact: true }));
      await stack.nodes[1]!.stop();
      const traffic = setInterval(() => void call(), 50);
      try {
        await shows(row.getByText(/^(ejected|probing)$/));
        stack.nodes[1]!.restart();
        await shows(row.getByText("active", { exact: true }));
      } finally {
        clearInterval(traffic);
      }
      await button(page, `Drain ${host}`).click();
      await button(page, "Drain upstream").click();
      await shows(row.getByText("draining", { exact: true }));
      expect(faults).toEqual([]);
      await page.context().close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "nothing on a page jumps while it loads",
    async () => {
      const { page, faults } = await newPage();
      await signInAsOperator(page);
      await watchShifts(page);
      for (const id of ["keys", "usage", "errors", "try", "upstreams", "prices", "accounts"]) {
        await page.evaluate((hash) => void (location.hash = hash), `#/${id}`);
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        await shows(page.locator(".panel"));
        expect([id, await page.evaluate(() => document.body.dataset["shift"])]).toEqual([id, "0"]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "every page of the operator opens without a fault, also at phone width",
    async () => {
      const { page, faults } = await newPage();
      await signInAsOperator(page);
      await page.setViewportSize({ width: 390, height: 800 });
      const names = ["API keys", "Usage", "Errors", "Try it", "Upstreams", "Prices", "Transfers"];
      for (const name of [...names, "Accounts", "Invitations", "Audit log", "Overview"]) {
        await button(page, "Menu").click();
        await navigate(page, name);
        await shows(page.getByRole("heading", { level: 1, name }));
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([name, overflow]).toEqual([name, 0]);
        const focused = await page.evaluate(() => document.activeElement?.tagName);
        expect([name, focused]).toEqual([name, "H1"]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
    TEST_TIMEOUT_MS,
  );
});
