import type { PricesView } from "../../views.ts";
import { exactly } from "../format.ts";
import { Badge, PageHead, Panel, Stat, Time, type Tone } from "../ui/parts.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";

const POLL_MS = 5_000;

type Source = PricesView["sources"][number];

/** Spot prices as they are served, and how the sources behind them do. */
export function PricesPage() {
  const prices = useData<PricesView>("/prices", POLL_MS);
  return (
    <>
      <PageHead
        title="Prices"
        lead="The median of fresh sources. Refreshed while somebody asks for prices."
      />
      <Show of={prices} lines={10}>
        {({ assets, sources }) => (
          <>
            {assets.length === 0 ? (
              <Empty title="No price yet">
                <p>Sources are asked when the first request for prices comes.</p>
              </Empty>
            ) : (
              <dl class="stats">
                {assets.map(({ symbol, usd, spreadBps, asOfMs, sourceIds }) => (
                  <Stat
                    key={symbol}
                    label={symbol}
                    value={`$${usd.toFixed(5)}`}
                    note={`spread ${spreadBps.toFixed(1)} bps · ${sourceIds.length} sources · ${new Date(asOfMs).toLocaleTimeString("en", { hourCycle: "h23" })}`}
                  />
                ))}
              </dl>
            )}
            <Panel title="Sources">
              <Table
                caption="Price sources"
                columns={columns(assets)}
                rows={sources}
                keyOf={({ id }) => id}
              />
            </Panel>
          </>
        )}
      </Show>
    </>
  );
}

const tones: Readonly<Record<Source["state"], Tone>> = {
  answering: "ok",
  new: "plain",
  failing: "bad",
  resting: "warn",
};

function columns(assets: PricesView["assets"]): readonly Column<Source>[] {
  const used = (id: string) =>
    assets.filter(({ sourceIds }) => sourceIds.includes(id)).map(({ symbol }) => symbol);
  return [
    { head: "Source", isTitle: true, cell: ({ id }) => id },
    { head: "Kind", cell: ({ kind }) => kind },
    {
      head: "State",
      cell: ({ state, failure }) => (
        <>
          <Badge tone={tones[state]}>{state}</Badge>
          {state !== "answering" && failure && <small class="wrap">{failure}</small>}
        </>
      ),
    },
    { head: "In use for", cell: ({ id }) => used(id).join(", ") || "–" },
    {
      head: "Answered",
      cell: ({ answeredAtMs }) =>
        answeredAtMs === undefined ? "never" : <Time at={answeredAtMs} />,
    },
    { head: "Answers", isFigure: true, cell: ({ answers }) => exactly(answers) },
    { head: "Failures", isFigure: true, cell: ({ failures }) => exactly(failures) },
  ];
}
