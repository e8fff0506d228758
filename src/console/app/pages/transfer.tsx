import { useState } from "preact/hooks";
import type { TransferDetailView } from "../../views.ts";
import { ask, messageOf } from "../api.ts";
import { at } from "../format.ts";
import { linkTo } from "../router.ts";
import { Badge, CopyButton, Id, PageHead, Panel } from "../ui/parts.tsx";
import { Show } from "../ui/states.tsx";
import { useData } from "../useData.ts";
import { stateTone } from "./transfers.tsx";

const POLL_MS = 2_000;

/** One bridge transfer: where it stands and everything that happened to it. */
export function TransferPage({ id }: { id: string }) {
  const transfer = useData<TransferDetailView>(`/transfers/${encodeURIComponent(id)}`, POLL_MS);
  const [note, setNote] = useState("");
  const resume = async () => {
    try {
      await ask(`/transfers/${encodeURIComponent(id)}/resume`, "POST");
      setNote("The worker looks at it next.");
      transfer.reload();
    } catch (refusal) {
      setNote(messageOf(refusal));
    }
  };
  const state = transfer.data?.state;
  const isOpen = state !== undefined && state !== "completed" && state !== "failed";
  return (
    <>
      <PageHead title="Transfer" lead={id}>
        <a class="button" href={linkTo("transfers")}>
          All transfers
        </a>
        <button
          type="button"
          class="button primary"
          disabled={!isOpen}
          onClick={() => void resume()}
        >
          Resume
        </button>
      </PageHead>
      <p class="step" role="status">
        {note}
      </p>
      <Show of={transfer} lines={10}>
        {(data) => (
          <div class="columns even">
            <Panel title="Transfer" note={<Badge tone={stateTone(data.state)}>{data.state}</Badge>}>
              <Facts of={data} />
            </Panel>
            <Panel title="History">
              <History of={data} />
            </Panel>
          </div>
        )}
      </Show>
    </>
  );
}

function Facts({ of: data }: { of: TransferDetailView }) {
  const facts: readonly (readonly [string, string | null])[] = [
    ["Amount", `${data.amount} USDC`],
    ["Fee", `${data.feeExecuted ?? `at most ${data.maxFee}`} USDC`],
    ["From", data.from.replaceAll("_", " ")],
    ["To", data.to.replaceAll("_", " ")],
    ["Recipient", data.recipient],
    ["Sender", data.sender ?? "the operator"],
    ["Key", data.keyId],
    ["Delay", data.delayReason],
    ["Attention", data.attention],
    ["Begun", at(data.createdAt)],
    ["Changed", at(data.updatedAt)],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      <h3>Transactions</h3>
      <ul class="list">
        {data.transactions.map(({ hash, purpose, chain, nonce }) => (
          <li key={hash}>
            <span>
              {purpose}{" "}
              <small>
                {chain.replaceAll("_", " ")}
                {nonce !== null && `, nonce ${nonce}`}
              </small>
            </span>
            <span>
              <Id text={hash} />{" "}
              <CopyButton text={hash} label={`Copy the hash of the ${purpose}`} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function History({ of: { events } }: { of: TransferDetailView }) {
  return (
    <ol class="history">
      {events.map(({ at: time, event, toState, detail }, index) => (
        <li key={index}>
          <p>
            <b>{event}</b> <Badge tone={stateTone(toState)}>{toState}</Badge>
          </p>
          <small>{at(time)}</small>
          {Object.keys(detail).length > 0 && (
            <details>
              <summary>Details</summary>
              <pre>{JSON.stringify(detail, undefined, 2)}</pre>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}
