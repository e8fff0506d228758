import type { ChainView, KeyView, OverviewView } from "../../views.ts";
import { count, exactly, until } from "../format.ts";
import { linkTo } from "../router.ts";
import { useSession } from "../session.ts";
import { UsageChart } from "../ui/chart.tsx";
import { Badge, Meter, PageHead, Panel, Stat, type Tone } from "../ui/parts.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";

const HOUR_MS = 3_600_000;
const POLL_MS = 2_000;
const MAX_KEYS = 8;

/** What matters at a glance: use, what is left, and whether the networks can be reached. */
export function OverviewPage() {
  const overview = useData<OverviewView>("/overview", POLL_MS);
  const { session } = useSession();
  const isOperator = session.role === "operator";
  return (
    <>
      <PageHead
        title="Overview"
        lead={isOperator ? "All keys of this service." : "Your keys, their use and what is left."}
      />
      <Show of={overview} lines={12}>
        {(data) => (
          <>
            <Stats overview={data} />
            {data.keys.length === 0 && <FirstSteps />}
            <Panel title="Last 24 hours" note={<a href={linkTo("usage")}>Usage in detail</a>}>
              <LastDay overview={data} />
            </Panel>
            <div class="columns">
              <Panel title="What is left" note={<a href={linkTo("keys")}>All keys</a>}>
                <KeyLimits keys={data.keys} />
              </Panel>
              <Panel title="Networks">
                <Networks chains={data.chains} />
              </Panel>
            </div>
          </>
        )}
      </Show>
    </>
  );
}

function Stats({ overview }: { overview: OverviewView }) {
  const { last24h, month, errors24h } = overview;
  return (
    <dl class="stats">
      <Stat label="Requests, 24 h" value={count(last24h.requests)} />
      <Stat label="Compute units, 24 h" value={count(last24h.cu)} />
      <Stat
        label="Compute units, this month"
        value={count(month.cu)}
        note={`${count(month.requests)} requests`}
      />
      <Stat
        label="Errors, 24 h"
        value={count(errors24h)}
        tone={errors24h > 0 ? "warn" : "plain"}
        note={errors24h > 0 ? "newest 100 of each key" : "none"}
      />
    </dl>
  );
}

function FirstSteps() {
  return (
    <Empty title="Create your first key">
      <p>
        Every request carries an API key. Make one, then try a quote with it; use shows up here
        within seconds.
      </p>
      <p>
        <a class="button primary" href={linkTo("keys", "new")}>
          Create key
        </a>
      </p>
    </Empty>
  );
}

function LastDay({ overview }: { overview: OverviewView }) {
  const to = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS;
  return (
    <UsageChart
      label="Requests per hour by operation"
      hours={overview.hours}
      from={to - 24 * HOUR_MS}
      to={to}
      unit="requests"
      stepMs={HOUR_MS}
    />
  );
}

const limitColumns: readonly Column<KeyView>[] = [
  {
    head: "Key",
    isTitle: true,
    cell: ({ name, hint }) => (
      <>
        {name || "Unnamed"} <code class="hint">{hint}</code>
      </>
    ),
  },
  {
    head: "Window",
    cell: ({ window: { limit, remaining, resetAt } }) =>
      limit >= 2_147_483_647 ? (
        "no limit"
      ) : (
        <span class="left">
          <Meter label="Requests used of the window" used={limit - remaining} of={limit} />
          <span>
            {exactly(remaining)} of {exactly(limit)}
            {remaining < limit && <small> new {until(resetAt)}</small>}
          </span>
        </span>
      ),
  },
  {
    head: "Month",
    cell: ({ cuAllowance, monthCu }) =>
      cuAllowance === null ? (
        `${count(monthCu)} CU used`
      ) : (
        <span class="left">
          <Meter label="Compute units used of the allowance" used={monthCu} of={cuAllowance} />
          <span>
            {count(Math.max(0, cuAllowance - monthCu))} of {count(cuAllowance)} CU
          </span>
        </span>
      ),
  },
];

function KeyLimits({ keys }: { keys: readonly KeyView[] }) {
  const active = keys
    .filter(({ state }) => state === "active")
    .sort((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0))
    .slice(0, MAX_KEYS);
  if (active.length === 0) return <Empty title="No active key" />;
  return (
    <Table caption="What is left of each key" columns={limitColumns} rows={active} keyOf={idOf} />
  );
}

const idOf = ({ id }: KeyView) => id;

const chainTones: Readonly<Record<ChainView["state"], Tone>> = {
  up: "ok",
  degraded: "warn",
  down: "bad",
  idle: "plain",
};

function Networks({ chains }: { chains: readonly ChainView[] }) {
  if (chains.length === 0) return <Empty title="No network has nodes" />;
  return (
    <ul class="list">
      {chains.map(({ chainId, name, state, head }) => (
        <li key={chainId}>
          <span>
            {name.replaceAll("_", " ")} <small>{chainId}</small>
          </span>
          <span>
            {head !== null && <small>block {exactly(head)} </small>}
            <Badge tone={chainTones[state]}>{state}</Badge>
          </span>
        </li>
      ))}
    </ul>
  );
}
