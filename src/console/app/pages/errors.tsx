import { useState } from "preact/hooks";
import { errorCatalogue, isErrorCode } from "../../../lib/errors.ts";
import type { ErrorView, KeyView } from "../../views.ts";
import { ListPanel } from "../ui/list.tsx";
import { Badge, Id, PageHead, Time } from "../ui/parts.tsx";
import type { Column } from "../ui/table.tsx";
import { useData } from "../useData.ts";
import { KeySelect } from "./usage.tsx";

const POLL_MS = 2_000;

/** The newest errors the keys were answered with, and what to do about each. */
export function ErrorsPage() {
  const [key, setKey] = useState("");
  const keys = useData<readonly KeyView[]>("/keys");
  const errors = useData<readonly ErrorView[]>(
    key === "" ? "/errors" : `/errors?key=${key}`,
    POLL_MS,
  );
  const hints = new Map(keys.data?.map(({ id, name, hint }) => [id, name || hint]));
  return (
    <>
      <PageHead
        title="Errors"
        lead="The newest 100 error answers of each key. Errors are never charged."
      />
      <div class="filters">
        <KeySelect keys={keys.data ?? []} chosen={key} onChoose={setKey} />
      </div>
      <ListPanel
        title="Recent errors"
        of={errors}
        columns={columns(hints)}
        keyOf={({ id }) => id}
        empty={{
          title: "No errors",
          text: "Requests that fail with a valid key show up here within a second.",
        }}
      />
    </>
  );
}

function columns(hints: ReadonlyMap<string, string>): readonly Column<ErrorView>[] {
  return [
    {
      head: "Code",
      isTitle: true,
      cell: ({ code, status }) => (
        <span class="code-cell">
          <Badge tone={status >= 500 ? "bad" : "warn"}>{status}</Badge>
          <a href={`/docs/errors#${code}`} target="_blank" rel="noreferrer">
            <code>{code}</code>
          </a>
        </span>
      ),
    },
    {
      head: "What happened",
      cell: ({ code, message }) => (
        <>
          <span>{message}</span>
          {isErrorCode(code) && <Advice code={code} />}
        </>
      ),
    },
    {
      head: "Request",
      cell: ({ method, path, requestId }) => (
        <>
          <code class="wrap">
            {method} {path}
          </code>
          <small>
            request <Id text={requestId} />
          </small>
        </>
      ),
    },
    { head: "Key", cell: ({ keyId }) => hints.get(keyId) ?? <Id text={keyId} /> },
    { head: "When", cell: ({ at }) => <Time at={at} /> },
  ];
}

function Advice({ code }: { code: keyof typeof errorCatalogue }) {
  const { help, retry } = errorCatalogue[code];
  return (
    <small>
      {help} {retry ? "The same request may succeed later." : ""}
    </small>
  );
}
