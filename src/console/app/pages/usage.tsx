import { useState } from "preact/hooks";
import type { KeyView, UsageView } from "../../views.ts";
import { count, exactly } from "../format.ts";
import { UsageChart } from "../ui/chart.tsx";
import { Field, PageHead, Panel, Stat } from "../ui/parts.tsx";
import { Segments } from "../ui/segments.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";

const HOUR_MS = 3_600_000;
const POLL_MS = 2_000;

const ranges = [
  { id: "24h", text: "24 hours", stepMs: HOUR_MS },
  { id: "7d", text: "7 days", stepMs: 6 * HOUR_MS },
  { id: "30d", text: "30 days", stepMs: 24 * HOUR_MS },
] as const;

/** What was charged, by operation and over time. */
export function UsagePage() {
  const [range, setRange] = useState<string>("24h");
  const [unit, setUnit] = useState<string>("requests");
  const [key, setKey] = useState("");
  const keys = useData<readonly KeyView[]>("/keys");
  const query = key === "" ? `range=${range}` : `range=${range}&key=${key}`;
  const usage = useData<UsageView>(`/usage?${query}`, POLL_MS);
  const stepMs = ranges.find(({ id }) => id === range)?.stepMs ?? HOUR_MS;
  return (
    <>
      <PageHead
        title="Usage"
        lead="Only answers that succeeded are charged. Hours are counted in UTC."
      />
      <div class="filters">
        <Segments label="Time" of={ranges} chosen={range} onChoose={setRange} />
        <Segments
          label="Unit"
          of={[
            { id: "requests", text: "Requests" },
            { id: "cu", text: "Compute units" },
          ]}
          chosen={unit}
          onChoose={setUnit}
        />
        <KeySelect keys={keys.data ?? []} chosen={key} onChoose={setKey} />
      </div>
      <Show of={usage} lines={10}>
        {(data) => (
          <>
            <dl class="stats">
              <Stat label="Requests" value={exactly(data.total.requests)} />
              <Stat label="Compute units" value={exactly(data.total.cu)} />
            </dl>
            <Panel title="Over time">
              <UsageChart
                label="Charges over time by operation; the table below has the figures"
                hours={data.hours}
                from={data.from}
                to={data.to}
                unit={unit === "cu" ? "cu" : "requests"}
                stepMs={stepMs}
              />
            </Panel>
            <Panel title="By operation">
              {data.operations.length === 0 ? (
                <Empty title="Nothing was charged in this time" />
              ) : (
                <Table
                  caption="Charges by operation and network"
                  columns={columns}
                  rows={data.operations}
                  keyOf={({ operation, chainId }) => `${operation} ${chainId}`}
                />
              )}
            </Panel>
          </>
        )}
      </Show>
    </>
  );
}

const columns: readonly Column<UsageView["operations"][number]>[] = [
  { head: "Operation", isTitle: true, cell: ({ operation }) => operation },
  { head: "Network", cell: ({ chain, chainId }) => chain?.replaceAll("_", " ") ?? chainId ?? "–" },
  { head: "Requests", isFigure: true, cell: ({ requests }) => exactly(requests) },
  { head: "CU", isFigure: true, cell: ({ cu }) => count(cu) },
];

/** Chooses one key, or all. */
export function KeySelect(props: {
  keys: readonly KeyView[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  return (
    <Field label="Key">
      {(id) => (
        <select
          id={id}
          value={props.chosen}
          onChange={(event) => props.onChoose(event.currentTarget.value)}
        >
          <option value="">All keys</option>
          {props.keys.map((key) => (
            <option key={key.id} value={key.id}>
              {key.name || "Unnamed"} {key.hint}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
