import type { Loaded } from "../useData.ts";
import { Panel } from "./parts.tsx";
import { Empty, Show } from "./states.tsx";
import { type Column, Table } from "./table.tsx";

/** A panel with a table of what was loaded, or with what to know while there is nothing. */
export function ListPanel<Row>(props: {
  title: string;
  of: Loaded<readonly Row[]>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string | number;
  empty: { readonly title: string; readonly text: string };
}) {
  const { title, of, columns, keyOf, empty } = props;
  return (
    <Panel title={title}>
      <Show of={of} lines={8}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={empty.title}>
              <p>{empty.text}</p>
            </Empty>
          ) : (
            <Table caption={title} columns={columns} rows={rows} keyOf={keyOf} />
          )
        }
      </Show>
    </Panel>
  );
}
