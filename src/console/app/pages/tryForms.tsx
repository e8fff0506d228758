import { useState } from "preact/hooks";
import { parseDecimalAmount } from "../../../lib/amounts.ts";
import type { ChainChoice } from "../../views.ts";
import { InputField, NetworkField, TextField } from "../ui/inputs.tsx";
import { Field } from "../ui/parts.tsx";
import { textOf } from "./forms.ts";

/** A request to the public API. */
export interface TryRequest {
  readonly path: string;
  readonly body: object;
}

const METHODS = [
  "eth_blockNumber",
  "eth_chainId",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_call",
  "eth_getTransactionReceipt",
  "getSlot",
  "getBalance",
];

interface Props {
  readonly chains: readonly ChainChoice[];
}

/** What a swap quote is asked with. */
export function QuoteFields({ chains }: Props) {
  const traded = chains.filter(({ tokens }) => tokens.length > 1);
  const [chosen, setChosen] = useState(traded[0]?.chainId);
  const tokens = traded.find(({ chainId }) => chainId === chosen)?.tokens ?? [];
  return (
    <>
      <NetworkField chains={traded} chosen={chosen} onChoose={setChosen} />
      <div class="pair">
        <TokenField key={`in ${chosen}`} label="Sell" name="inputToken" tokens={tokens} nth={0} />
        <TokenField key={`out ${chosen}`} label="Buy" name="outputToken" tokens={tokens} nth={1} />
      </div>
      <InputField
        label="Amount"
        hint="In units of the sold token, such as 12.5."
        name="amount"
        value="1"
        isRequired
      />
    </>
  );
}

/** The quote request a form asks for. @throws Error naming what is wrong */
export function quoteRequest(form: FormData, chains: readonly ChainChoice[]): TryRequest {
  const chainId = Number(textOf(form, "chain"));
  const inputToken = textOf(form, "inputToken");
  const tokens = chains.find((chain) => chain.chainId === chainId)?.tokens ?? [];
  const decimals = tokens.find(({ symbol }) => symbol === inputToken)?.decimals ?? 0;
  const amount = parseDecimalAmount(textOf(form, "amount"), decimals);
  if (amount === undefined) {
    throw new Error(`The amount must be a number above 0 with at most ${decimals} decimals.`);
  }
  const outputToken = textOf(form, "outputToken");
  const body = { inputToken, outputToken, inputAmount: amount.toString(), chainId };
  return { path: "/api/public/swap/quote", body };
}

/** What a JSON-RPC request is made of. */
export function RpcFields({ chains }: Props) {
  const [chosen, setChosen] = useState(chains[0]?.chainId);
  return (
    <>
      <NetworkField chains={chains} chosen={chosen} onChoose={setChosen} />
      <Field label="Method">
        {(id) => (
          <>
            <input
              id={id}
              name="method"
              required
              list={`${id}-known`}
              defaultValue="eth_blockNumber"
              autocomplete="off"
              spellcheck={false}
            />
            <datalist id={`${id}-known`}>
              {METHODS.map((method) => (
                <option key={method} value={method} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <TextField label="Parameters" hint="A JSON array." name="params" rows={3} value="[]" />
    </>
  );
}

/** The JSON-RPC request a form asks for. @throws Error when the parameters are no JSON array */
export function rpcRequest(form: FormData): TryRequest {
  let params: unknown;
  try {
    params = JSON.parse(textOf(form, "params") || "[]");
  } catch {
    params = undefined;
  }
  if (!Array.isArray(params)) throw new Error("The parameters must be a JSON array.");
  const body = { jsonrpc: "2.0", id: 1, method: textOf(form, "method"), params };
  return { path: `/api/public/rpc/${textOf(form, "chain")}`, body };
}

function TokenField(props: {
  label: string;
  name: string;
  tokens: ChainChoice["tokens"];
  nth: number;
}) {
  return (
    <Field label={props.label}>
      {(id) => (
        <select id={id} name={props.name}>
          {props.tokens.map(({ symbol }, index) => (
            <option key={symbol} value={symbol} selected={index === props.nth}>
              {symbol}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
