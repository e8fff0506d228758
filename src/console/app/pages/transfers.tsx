import { useState } from "preact/hooks";
import type { TransferView } from "../../views.ts";
import { exactly } from "../format.ts";
import { linkTo } from "../router.ts";
import { Badge, Id, PageHead, Panel, Time, type Tone } from "../ui/parts.tsx";
import { Segments } from "../ui/segments.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";

const POLL_MS = 3_000;

interface Listed {
  readonly counts: Readonly<Record<string, number>>;
  readonly transfers: readonly TransferView[];
}

/** Bridge transfers, newest first. */
export function TransfersPage() {
  const [state, setState] = useState("");
  const listed = useData<Listed>(
    state === "" ? "/transfers" : `/transfers?state=${state}`,
    POLL_MS,
  );
  return (
    <>
      <PageHead title="Transfers" lead="USDC on its way between networks; the newest 200." />
      <Show of={listed} lines={8}>
        {({ counts, transfers }) => (
          <>
            <div class="filters">
              <Segments
                label="State"
                of={[{ id: "", text: "All" }, ...stateChoices(counts)]}
                chosen={state}
                onChoose={setState}
              />
            </div>
            <Panel title="Bridge transfers">
              {transfers.length === 0 ? (
                <Empty title="No transfers">
                  <p>Transfers made through the bridge show up here with their state.</p>
                </Empty>
              ) : (
                <Table
                  caption="Bridge transfers"
                  columns={columns}
                  rows={transfers}
                  keyOf={({ id }) => id}
                />
              )}
            </Panel>
          </>
        )}
      </Show>
    </>
  );
}

function stateChoices(counts: Listed["counts"]) {
  return Object.entries(counts).map(([id, number]) => ({ id, text: `${id} ${exactly(number)}` }));
}

/** The colour of a transfer's state. */
export function stateTone(state: string): Tone {
  if (state === "completed") return "ok";
  return state === "failed" ? "bad" : "accent";
}

const columns: readonly Column<TransferView>[] = [
  {
    head: "Transfer",
    isTitle: true,
    cell: ({ id, attention }) => (
      <>
        <a href={linkTo("transfers", id)} aria-label={`Transfer ${id}`}>
          <Id text={id} />
        </a>
        {attention && <small class="attention">{attention}</small>}
      </>
    ),
  },
  { head: "State", cell: ({ state }) => <Badge tone={stateTone(state)}>{state}</Badge> },
  { head: "USDC", isFigure: true, cell: ({ amount }) => amount },
  {
    head: "Way",
    cell: ({ from, to }) => `${from.replaceAll("_", " ")} → ${to.replaceAll("_", " ")}`,
  },
  { head: "To", cell: ({ recipient }) => <Id text={recipient} /> },
  { head: "Key", cell: ({ keyId }) => <Id text={keyId} /> },
  { head: "Begun", cell: ({ createdAt }) => <Time at={createdAt} /> },
];
