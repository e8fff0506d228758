import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ago, at, short } from "../format.ts";
import { Icon } from "./icon.tsx";

export type Tone = "ok" | "warn" | "bad" | "plain" | "accent";

/** A word about a state; the colour says the same once more. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A part of a page under a title of its own. */
export function Panel(props: {
  title: string;
  note?: ComponentChildren;
  children: ComponentChildren;
}) {
  const titleId = useId();
  return (
    <section class="panel" aria-labelledby={titleId}>
      <header>
        <h2 id={titleId}>{props.title}</h2>
        {props.note && <div class="panel-note">{props.note}</div>}
      </header>
      {props.children}
    </section>
  );
}

/** The head of a page; takes the focus when the page is come to. */
export function PageHead(props: { title: string; lead: string; children?: ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Causeway`;
    title.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [props.title]);
  return (
    <header class="page-head">
      <div>
        <h1 ref={title} tabIndex={-1}>
          {props.title}
        </h1>
        <p class="lead">{props.lead}</p>
      </div>
      {props.children && <div class="page-actions">{props.children}</div>}
    </header>
  );
}

/** A labelled part of a form. The control must have the id that is given. */
export function Field(props: {
  label: string;
  hint?: string;
  children: (id: string, hintId: string | undefined) => ComponentChildren;
}) {
  const id = useId();
  const hintId = props.hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(id, hintId)}
      {hintId && (
        <p class="hint" id={hintId}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** One figure that matters. */
export function Stat(props: { label: string; value: string; note?: string; tone?: Tone }) {
  return (
    <div class={`stat ${props.tone ?? "plain"}`}>
      <dt>{props.label}</dt>
      <dd>
        {props.value}
        {props.note && <small>{props.note}</small>}
      </dd>
    </div>
  );
}

/** How much of a bound is left; the text beside it says the figures. */
export function Meter(props: { label: string; used: number; of: number }) {
  const share = props.of === 0 ? 0 : Math.min(1, props.used / props.of);
  const tone = share >= 1 ? "bad" : share > 0.8 ? "warn" : "ok";
  return (
    <span
      class={`meter ${tone}`}
      role="meter"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={props.of}
      aria-valuenow={Math.min(props.used, props.of)}
    >
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}

const CONFIRMED_MS = 2_000;

/** Copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <button type="button" class="button small" aria-label={label} onClick={() => void copy()}>
      <Icon name={isCopied ? "check" : "copy"} />
      <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
    </button>
  );
}

/** A point in time as a distance; in full on hover. */
export function Time({ at: time }: { at: number }) {
  return (
    <time dateTime={new Date(time).toISOString()} title={at(time)}>
      {ago(time)}
    </time>
  );
}

/** A long identifier, shortened; in full on hover. */
export function Id({ text }: { text: string }) {
  return (
    <code class="id" title={text}>
      {short(text)}
    </code>
  );
}
