import { getAddress } from "viem";
import type { StoredAccount } from "../db/index.ts";
import type { AccountView } from "./views.ts";

const CONTRACT_WALLET = /^eip155:([0-9]+):(0x[0-9a-f]{40})$/;

/** An account as it is shown: a contract wallet by its address and chain. */
export function accountView(account: StoredAccount): AccountView {
  const { id, address, createdAt, lastSignInAt, disabledAt } = account;
  const [, chainId, contract] = CONTRACT_WALLET.exec(address) ?? [];
  return {
    id,
    address: getAddress(contract ?? address),
    chainId: chainId === undefined ? null : Number(chainId),
    createdAt,
    lastSignInAt,
    disabledAt,
  };
}
