import type { ComponentChildren } from "preact";

/** One column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Figures stand to the right. */
  readonly isFigure?: boolean;
  /** Says what the row is about. */
  readonly isTitle?: boolean;
}

/**
 * A table; on narrow screens each row becomes a card with the headings inside. The roles say once
 * more what the elements are, because browsers forget it of those that are laid out otherwise.
 */
export function Table<Row>(props: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
}) {
  const { columns } = props;
  return (
    <div class="table-box">
      <table role="table">
        <caption class="unseen">{props.caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, isFigure }) => (
              <th key={head} role="columnheader" scope="col" class={headClass(head, isFigure)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {props.rows.map((row) => (
            <tr role="row" key={props.keyOf(row)}>
              {columns.map((column) => (
                <Cell key={column.head} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function headClass(head: string, isFigure = false): string {
  if (head === "Actions") return "actions-head";
  return isFigure ? "figure" : "";
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const content = column.cell(row);
  if (column.isTitle) {
    return (
      <th role="rowheader" scope="row" class="row-title">
        {content}
      </th>
    );
  }
  return (
    <td role="cell" data-head={column.head} class={column.isFigure ? "figure" : ""}>
      {content}
    </td>
  );
}
