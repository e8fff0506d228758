import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { isHex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { CHROMIUM } from "../support/installed.ts";

/** Starts the browser. It asks the internet for nothing by itself. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A tab, and everything it did that it must not. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests to other origins, breaches of the page's policy, and script errors. */
  readonly faults: readonly string[];
}

/** Opens a tab on the console. */
export async function openConsole(
  context: BrowserContext,
  origin: string,
  hash = "",
): Promise<WatchedPage> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) faults.push(url);
  });
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy/.test(message.text())) {
      faults.push(message.text());
    }
  });
  page.on("pageerror", (error) => faults.push(error.stack ?? error.message));
  await page.goto(`${origin}/console${hash}`);
  return { page, faults };
}

/** Gives every tab of a context a wallet that signs whatever it is asked to. */
export async function injectWallet(
  context: BrowserContext,
  account: PrivateKeyAccount,
  chainId: number,
): Promise<void> {
  await context.exposeFunction("signInTest", (message: unknown) => {
    if (!isHex(message)) throw new Error("personal_sign is given hex");
    return account.signMessage({ message: { raw: message } });
  });
  await context.addInitScript(
    ({ address, chain }) => {
      const sign = (globalThis as unknown as { signInTest: (message: unknown) => unknown })
        .signInTest;
      const provider = {
        request: async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
          if (method === "eth_requestAccounts") return [address];
          if (method === "eth_chainId") return `0x${chain.toString(16)}`;
          if (method === "personal_sign") return sign(params[0]);
          throw new Error(`no ${method} here`);
        },
      };
      const icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E" +
        "%3Crect width='8' height='8' rx='2' fill='%23fff'/%3E%3C/svg%3E";
      const announce = () => {
        const info = { uuid: "test", name: "Test Wallet", icon };
        const detail = Object.freeze({ info, provider });
        dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      };
      addEventListener("eip6963:requestProvider", announce);
    },
    { address: account.address, chain: chainId },
  );
}
