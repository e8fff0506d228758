import { useState } from "preact/hooks";
import type { AuditView } from "../../views.ts";
import { ask, messageOf } from "../api.ts";
import { at } from "../format.ts";
import { Id, PageHead, Panel } from "../ui/parts.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useData } from "../useData.ts";

/** Lines of one page of the log. */
const PAGE = 100;

/** Who changed what; the log can only grow. */
export function AuditPage() {
  const newest = useData<readonly AuditView[]>("/audit");
  const [older, setOlder] = useState<readonly AuditView[]>([]);
  const [isEnd, setEnd] = useState(false);
  const [error, setError] = useState<unknown>();
  const more = async (last: number) => {
    setError(undefined);
    try {
      const page = await ask<readonly AuditView[]>(`/audit?before=${last}`);
      setOlder((before) => [...before, ...page]);
      setEnd(page.length < PAGE);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <PageHead
        title="Audit log"
        lead="Every change to keys, accounts and upstreams, newest first."
      />
      <Panel title="Changes">
        <Show of={newest} lines={12}>
          {(first) => {
            const all = [...first, ...older];
            const last = all.at(-1);
            if (!last) return <Empty title="Nothing has been changed yet" />;
            return (
              <>
                <Table caption="Changes" columns={columns} rows={all} keyOf={({ id }) => id} />
                <p class="refusal" role="alert">
                  {error === undefined ? "" : messageOf(error)}
                </p>
                {first.length === PAGE && !isEnd && (
                  <button type="button" class="button" onClick={() => void more(last.id)}>
                    Older changes
                  </button>
                )}
              </>
            );
          }}
        </Show>
      </Panel>
    </>
  );
}

const columns: readonly Column<AuditView>[] = [
  { head: "Action", isTitle: true, cell: ({ action }) => action },
  { head: "Subject", cell: ({ subject }) => <Id text={subject} /> },
  { head: "By", cell: ({ actor }) => <Id text={actor} /> },
  { head: "When", cell: ({ at: time }) => at(time) },
  {
    head: "Details",
    cell: ({ detail }) =>
      Object.keys(detail).length === 0 ? (
        "–"
      ) : (
        <details>
          <summary>Show</summary>
          <pre>{JSON.stringify(detail, undefined, 2)}</pre>
        </details>
      ),
  },
];
