import type { ComponentChildren } from "preact";
import { messageOf } from "../api.ts";
import type { Loaded } from "../useData.ts";

/** Grey bars of the size the content will have. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

/** There is nothing yet, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Something could not be loaded. */
export function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      <button type="button" class="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** Shows loaded data; until then bars, and instead of it what went wrong. */
export function Show<Data>(props: {
  of: Loaded<Data>;
  lines?: number;
  children: (data: Data) => ComponentChildren;
}) {
  const { data, error, reload } = props.of;
  if (data === undefined) {
    if (error !== undefined) return <Failure error={error} retry={reload} />;
    return <Skeleton lines={props.lines ?? 5} />;
  }
  return (
    <>
      {error !== undefined && (
        <p class="notice warn" role="status">
          Shown as of the last answer: {messageOf(error)}
        </p>
      )}
      {props.children(data)}
    </>
  );
}
