import { useRef, useState } from "preact/hooks";
import type { ChainChoice, UpstreamView } from "../../views.ts";
import { ask } from "../api.ts";
import { count, exactly, millis } from "../format.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { InputField, NetworkField } from "../ui/inputs.tsx";
import { Badge, PageHead, Panel, type Tone } from "../ui/parts.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";
import { numberOrNull, textOf } from "./forms.ts";
import { TrafficShares } from "./share.ts";

const POLL_MS = 2_000;

type Open =
  { readonly kind: "add" } | { readonly kind: "drain" | "remove"; readonly node: UpstreamView };

/** The nodes behind the service, live: how each is judged and used, and changes to them. */
export function UpstreamsPage() {
  const nodes = useData<readonly UpstreamView[]>("/upstreams", POLL_MS);
  const [open, setOpen] = useState<Open>();
  const shares = useRef(new TrafficShares());
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    nodes.reload();
  };
  return (
    <>
      <PageHead
        title="Upstreams"
        lead="Live, every two seconds. The score is the expected cost of the next request, in ms."
      >
        <button type="button" class="button primary" onClick={() => setOpen({ kind: "add" })}>
          <Icon name="plus" />
          Add upstream
        </button>
      </PageHead>
      <Legend />
      <Show of={nodes} lines={12}>
        {(all) => {
          if (all.length === 0) return <Empty title="No upstream is configured" />;
          const live = shares.current.update(all);
          return [...Map.groupBy(all, ({ chain }) => chain)].map(([chain, ofChain]) => (
            <Panel key={chain} title={chain.replaceAll("_", " ")} note={headOf(ofChain)}>
              <Table
                caption={`Upstreams of ${chain}`}
                columns={columns(live, ofChain, setOpen)}
                rows={ofChain}
                keyOf={({ id }) => id}
              />
            </Panel>
          ));
        }}
      </Show>
      {open?.kind === "add" && <AddDialog onClose={close} onDone={done} />}
      {(open?.kind === "drain" || open?.kind === "remove") && (
        <EndDialog kind={open.kind} node={open.node} onClose={close} onDone={done} />
      )}
    </>
  );
}

function headOf(nodes: readonly UpstreamView[]) {
  const heads = nodes.flatMap(({ head }) => (head === undefined ? [] : [head]));
  return heads.length === 0 ? "" : `block ${exactly(Math.max(...heads))}`;
}

const parts = [
  ["latencyMs", "latency", "--series-1"],
  ["errorMs", "errors", "--series-4"],
  ["queueMs", "queue", "--series-3"],
  ["lagMs", "lag", "--series-5"],
] as const;

function Legend() {
  return (
    <p class="legends">
      {parts.map(([id, text, colour]) => (
        <span key={id} class="legend">
          <i style={{ background: `var(${colour})` }} />
          {text}
        </span>
      ))}
    </p>
  );
}

const tones: Readonly<Record<UpstreamView["state"], Tone>> = {
  active: "ok",
  idle: "plain",
  probing: "warn",
  draining: "warn",
  ejected: "bad",
  "wrong-chain": "bad",
};

function columns(
  live: ReadonlyMap<string, number>,
  ofChain: readonly UpstreamView[],
  onOpen: (open: Open) => void,
): readonly Column<UpstreamView>[] {
  const highest = Math.max(...ofChain.map(({ costMs }) => costMs));
  return [
    { head: "Node", isTitle: true, cell: ({ name }) => <span class="wrap">{name}</span> },
    {
      head: "State",
      cell: ({ state, reason }) => (
        <>
          <Badge tone={tones[state]}>{state}</Badge>
          {reason && <small>{reason}</small>}
        </>
      ),
    },
    { head: "Score", cell: (node) => <Score of={node} highest={highest} /> },
    {
      head: "Share",
      isFigure: true,
      cell: ({ id }) => {
        const share = live.get(id);
        return share === undefined ? "–" : `${(share * 100).toFixed(0)} %`;
      },
    },
    { head: "Lag", isFigure: true, cell: (node) => lagOf(node) },
    {
      head: "In flight",
      isFigure: true,
      cell: ({ inFlight, maxConcurrent }) => `${inFlight} / ${maxConcurrent}`,
    },
    { head: "Limit", isFigure: true, cell: (node) => limitOf(node) },
    {
      head: "Requests",
      isFigure: true,
      cell: ({ requests, failures }) => (
        <>
          {count(requests)}
          {failures > 0 && <small>{count(failures)} failed</small>}
        </>
      ),
    },
    { head: "Actions", cell: (node) => <NodeActions of={node} onOpen={onOpen} /> },
  ];
}

function lagOf({ lagBlocks, head }: UpstreamView) {
  if (lagBlocks === null || head === undefined) return "–";
  return (
    <span title={`head ${exactly(head)}`}>{lagBlocks === 0 ? "none" : `${lagBlocks} blocks`}</span>
  );
}

function limitOf({ pace }: UpstreamView): string {
  if (pace.heldMs > 0) return `held ${millis(pace.heldMs)}`;
  const rate = pace.learnedPerSecond ?? pace.declaredPerSecond;
  return rate === undefined ? "none seen" : `${rate.toFixed(1)}/s`;
}

function Score({ of: { costMs, parts: all }, highest }: { of: UpstreamView; highest: number }) {
  const text = parts.map(([id, name]) => `${name} ${millis(all[id])}`).join(", ");
  return (
    <span class="score" title={text}>
      <b>{millis(costMs)}</b>
      <span class="score-bar" role="img" aria-label={text}>
        {parts.map(([id, , colour]) => (
          <i
            key={id}
            style={{
              width: `${highest === 0 ? 0 : (all[id] / highest) * 100}%`,
              background: `var(${colour})`,
            }}
          />
        ))}
      </span>
    </span>
  );
}

function NodeActions({ of: node, onOpen }: { of: UpstreamView; onOpen: (open: Open) => void }) {
  return (
    <span class="row-actions">
      {node.state !== "draining" && (
        <button
          type="button"
          class="button small"
          aria-label={`Drain ${node.name}`}
          onClick={() => onOpen({ kind: "drain", node })}
        >
          Drain
        </button>
      )}
      <button
        type="button"
        class="button small danger-text"
        aria-label={`Remove ${node.name}`}
        onClick={() => onOpen({ kind: "remove", node })}
      >
        Remove
      </button>
    </span>
  );
}

function AddDialog(props: { onClose: () => void; onDone: () => void }) {
  const chains = useData<readonly ChainChoice[]>("/chains?all=true");
  const add = async (form: FormData) => {
    const maxConcurrent = numberOrNull(form, "maxConcurrent");
    const requestsPerSecond = numberOrNull(form, "requestsPerSecond");
    await ask("/upstreams", "POST", {
      chainId: Number(textOf(form, "chain")),
      url: textOf(form, "url"),
      ...(maxConcurrent !== null && { maxConcurrent }),
      ...(requestsPerSecond !== null && { requestsPerSecond }),
    });
    props.onDone();
  };
  return (
    <FormDialog title="Add upstream" submit="Add upstream" onClose={props.onClose} onSubmit={add}>
      <NetworkField chains={chains.data ?? []} />
      <InputField
        label="URL"
        hint="Stored encrypted and never shown. The node is asked for its chain before it is used."
        name="url"
        type="url"
        placeholder="https://"
        isRequired
      />
      <div class="pair">
        <InputField
          label="Requests at a time"
          hint="Empty: default."
          name="maxConcurrent"
          type="number"
          min={1}
        />
        <InputField
          label="Requests per second"
          hint="Empty: learned."
          name="requestsPerSecond"
          type="number"
          min={1}
        />
      </div>
    </FormDialog>
  );
}

function EndDialog(props: {
  kind: "drain" | "remove";
  node: UpstreamView;
  onClose: () => void;
  onDone: () => void;
}) {
  const { kind, node } = props;
  const end = async () => {
    if (kind === "drain") await ask(`/upstreams/${node.id}/drain`, "POST");
    else await ask(`/upstreams/${node.id}`, "DELETE");
    props.onDone();
  };
  const verb = kind === "drain" ? "Drain" : "Remove";
  return (
    <FormDialog
      title={`${verb} ${node.name}?`}
      submit={`${verb} upstream`}
      isDangerous
      onClose={props.onClose}
      onSubmit={end}
    >
      <p>
        {kind === "drain"
          ? "It gets no more calls; those under way are answered. It stays listed."
          : "It gets no more calls, and its connections close once those under way are answered."}{" "}
        The change outlives a restart.
      </p>
    </FormDialog>
  );
}
