/*
 * Takes a picture of every page of the console, light and dark, at 1280 and 390 pixels:
 * `bun tests/console/screenshots.ts <outDir>`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startStack } from "../app/stack.ts";
import { temporaryDirectory } from "../support/sandbox.ts";
import { injectWallet, launchBrowser, openConsole } from "./browser.ts";
import { fillConsole } from "./sampleData.ts";

const WIDTHS = [1280, 390] as const;
const THEMES = ["light", "dark"] as const;
const PHONE_WIDTH = 390;

const developerPages = ["overview", "keys", "usage", "errors", "try"];
const operatorPages = ["upstreams", "prices", "transfers", "accounts", "invitations", "audit"];

type Account = ReturnType<typeof privateKeyToAccount>;

/** Pictures at one width and in one theme. */
class Session {
  constructor(
    readonly from: Browser,
    readonly origin: string,
    readonly dir: string,
    readonly width: number,
    readonly theme: "light" | "dark",
  ) {}

  async takeEntrance(): Promise<void> {
    await this.#visitor(async (page) => {
      await page.getByText("No wallet found").waitFor();
      await this.#shoot(page, "sign-in-no-wallet");
    });
  }

  async takeEmpty(): Promise<void> {
    const newcomer = privateKeyToAccount(generatePrivateKey());
    await this.#visitor(async (page) => {
      const enter = page.getByRole("button", { name: "Sign in with Test Wallet" });
      await enter.waitFor();
      await this.#shoot(page, "sign-in");
      await enter.click();
      for (const name of developerPages) await this.#takePage(page, name, "empty-");
    }, newcomer);
  }

  async takeDeveloper(account: Account): Promise<void> {
    await this.#visitor(async (page) => {
      await page.getByRole("button", { name: "Sign in with Test Wallet" }).click();
      for (const name of developerPages) await this.#takePage(page, name);
      await this.#takeDialogs(page);
    }, account);
  }

  async takeOperator(): Promise<void> {
    await this.#visitor(async (page) => {
      await page.getByText("Sign in as the operator").click();
      await page.getByLabel("Admin token").fill("test-admin-token");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      for (const name of [...developerPages, ...operatorPages]) {
        await this.#takePage(page, name, "operator-");
      }
      await page.goto(`${this.origin}/console#/transfers`);
      await page
        .getByRole("link", { name: /^Transfer / })
        .first()
        .click();
      await page.getByRole("heading", { name: "History" }).waitFor();
      await this.#shoot(page, "operator-transfer");
      await page.goto(`${this.origin}/console#/accounts`);
      await page
        .getByRole("button", { name: /^Edit 0x/ })
        .first()
        .click();
      await this.#shoot(page, "dialog-account", false);
    });
  }

  async #takeDialogs(page: Page): Promise<void> {
    await page.goto(`${this.origin}/console#/keys`);
    await page.getByRole("button", { name: "Create key" }).first().click();
    await this.#shoot(page, "dialog-create", false);
    await page.getByText("Limits, expiry and addresses").click();
    await this.#shoot(page, "dialog-create-more", false);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Revoke checkout" }).click();
    await this.#shoot(page, "dialog-revoke", false);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Rotate checkout" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    await page.getByTestId("secret").waitFor();
    await this.#shoot(page, "dialog-secret", false);
    await page.getByRole("link", { name: "Try it" }).last().click();
    await page.getByRole("button", { name: "Send request" }).click();
    await page.getByRole("heading", { name: "Headers" }).waitFor();
    await this.#shoot(page, "try-answer");
    if (this.width !== PHONE_WIDTH) return;
    await page.getByRole("button", { name: "Menu" }).click();
    await this.#shoot(page, "menu", false);
  }

  async #takePage(page: Page, name: string, prefix = ""): Promise<void> {
    await page.locator("#navigation").waitFor({ state: "attached" });
    await page.goto(`${this.origin}/console#/${name}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    await this.#shoot(page, `${prefix}${name}`);
  }

  async #shoot(page: Page, name: string, fullPage = true): Promise<void> {
    if (name.startsWith("dialog")) await page.getByRole("dialog").waitFor();
    const file = `${name}-${this.theme}-${this.width}.png`;
    await page.screenshot({ path: join(this.dir, file), fullPage });
  }

  /** Opens a browser of its own for as long as `take` runs. */
  async #visitor(take: (page: Page) => Promise<void>, account?: Account): Promise<void> {
    const context: BrowserContext = await this.from.newContext({
      viewport: { width: this.width, height: 900 },
      colorScheme: this.theme,
    });
    if (account) await injectWallet(context, account, 5042);
    const { page, faults } = await openConsole(context, this.origin);
    await take(page);
    await context.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }
}

const [, , outDir] = process.argv;
if (outDir === undefined) throw new Error("usage: bun tests/console/screenshots.ts <outDir>");
mkdirSync(outDir, { recursive: true });
const databaseUrl = `file:${join(temporaryDirectory(), "causeway.db")}`;
const stack = await startStack([5042, 5042002, 84532], databaseUrl);
const browser = await launchBrowser();
try {
  const developer = privateKeyToAccount(generatePrivateKey());
  await fillConsole(stack.service, databaseUrl, developer);
  for (const width of WIDTHS) {
    for (const theme of THEMES) {
      const session = new Session(browser, stack.service.origin, outDir, width, theme);
      await session.takeEntrance();
      await session.takeEmpty();
      await session.takeDeveloper(developer);
      await session.takeOperator();
    }
  }
} finally {
  await browser.close();
  await stack.stop();
}
process.exit(0);
