import { useEffect, useState } from "preact/hooks";
import type { SessionView } from "../views.ts";
import { ask } from "./api.ts";

interface Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
}

/** A wallet this browser has. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  /** Data URL; undefined where the wallet brings none. */
  readonly icon: string | undefined;
  readonly provider: Provider;
}

interface Announcement extends Event {
  readonly detail: {
    readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
    readonly provider: Provider;
  };
}

declare global {
  interface Window {
    readonly ethereum?: Provider;
  }
  interface WindowEventMap {
    "eip6963:announceProvider": Announcement;
  }
}

/** The wallets that announce themselves (EIP-6963), else the one that is simply there. */
export function useWallets(): readonly Wallet[] {
  const [announced, setAnnounced] = useState<readonly Wallet[]>([]);
  useEffect(() => {
    const add = ({ detail: { info, provider } }: Announcement) => {
      const icon = info.icon.startsWith("data:image/") ? info.icon : undefined;
      const wallet = { id: info.uuid, name: info.name, icon, provider };
      setAnnounced((known) => [...known.filter(({ id }) => id !== wallet.id), wallet]);
    };
    addEventListener("eip6963:announceProvider", add);
    dispatchEvent(new Event("eip6963:requestProvider"));
    return () => removeEventListener("eip6963:announceProvider", add);
  }, []);
  if (announced.length > 0 || !window.ethereum) return announced;
  const provider = window.ethereum;
  return [{ id: "window.ethereum", name: "Browser wallet", icon: undefined, provider }];
}

/**
 * Signs in with a wallet: asks it for an account, has the service make the message, has the wallet
 * sign it.
 * @param onStep - told what is waited for
 * @throws Error with what the wallet or the service says
 */
export async function signInWith(
  { provider }: Wallet,
  invitation: string,
  onStep: (text: string) => void,
): Promise<SessionView> {
  onStep("Choose an account in your wallet.");
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof address !== "string") throw new Error("The wallet shares no account.");
  const chainId = Number(await provider.request({ method: "eth_chainId" }));
  const { nonce, message } = await ask<{ nonce: string; message: string }>(
    "/sign-in/challenge",
    "POST",
    { address, chainId },
  );
  onStep("Sign the message in your wallet.");
  const params = [toHex(message), address];
  const signature = await provider.request({ method: "personal_sign", params });
  onStep("Checking the signature.");
  const extra = invitation === "" ? {} : { invitation };
  return ask<SessionView>("/sign-in/wallet", "POST", { nonce, signature, ...extra });
}

function toHex(text: string): string {
  const bytes = [...new TextEncoder().encode(text)];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
