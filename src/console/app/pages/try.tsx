import { useState } from "preact/hooks";
import type { ChainChoice } from "../../views.ts";
import { messageOf } from "../api.ts";
import { useSession } from "../session.ts";
import { InputField } from "../ui/inputs.tsx";
import { Badge, CopyButton, Field, PageHead, Panel } from "../ui/parts.tsx";
import { Segments } from "../ui/segments.tsx";
import { Empty, Show } from "../ui/states.tsx";
import { useData } from "../useData.ts";
import { QuoteFields, quoteRequest, RpcFields, rpcRequest, type TryRequest } from "./tryForms.tsx";
import { textOf } from "./forms.ts";

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly curl: string;
}

const PASTED = "";

/** Sends a request with one of one's keys and shows everything that comes back. */
export function TryPage() {
  const chains = useData<readonly ChainChoice[]>("/chains");
  const [kind, setKind] = useState("quote");
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);

  const send = async (event: SubmitEvent, all: readonly ChainChoice[]) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      const request = kind === "quote" ? quoteRequest(form, all) : rpcRequest(form);
      setAnswer(await run(request, textOf(form, "secret") || textOf(form, "pasted")));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <PageHead
        title="Try it"
        lead="Requests go to this service with your key and are charged like any other."
      />
      <Show of={chains} lines={8}>
        {(all) => (
          <div class="columns even">
            <Panel title="Request">
              <form onSubmit={(event) => void send(event, all)}>
                <KeyFields />
                <Segments
                  label="Operation"
                  of={[
                    { id: "quote", text: "Swap quote" },
                    { id: "rpc", text: "JSON-RPC" },
                  ]}
                  chosen={kind}
                  onChoose={setKind}
                />
                {kind === "quote" ? <QuoteFields chains={all} /> : <RpcFields chains={all} />}
                <p class="refusal" role="alert">
                  {error === undefined ? "" : messageOf(error)}
                </p>
                <button type="submit" class="button primary" disabled={isBusy}>
                  Send request
                </button>
              </form>
            </Panel>
            <Panel title="Answer">
              {answer ? (
                <AnswerView answer={answer} />
              ) : (
                <Empty title="Nothing sent yet">
                  <p>Status, headers, body and the curl line show up here.</p>
                </Empty>
              )}
            </Panel>
          </div>
        )}
      </Show>
    </>
  );
}

function KeyFields() {
  const { secrets } = useSession();
  const newest = [...secrets.values()].at(-1) ?? PASTED;
  const [chosen, setChosen] = useState(newest);
  return (
    <>
      {secrets.size > 0 && (
        <Field label="Key" hint="Secrets made since the page was opened.">
          {(id, hintId) => (
            <select
              id={id}
              name="secret"
              value={chosen}
              aria-describedby={hintId}
              onChange={(event) => setChosen(event.currentTarget.value)}
            >
              {[...secrets].toReversed().map(([label, secret]) => (
                <option key={secret} value={secret}>
                  {label}
                </option>
              ))}
              <option value={PASTED}>Another key</option>
            </select>
          )}
        </Field>
      )}
      {(secrets.size === 0 || chosen === PASTED) && (
        <InputField
          label="API key"
          hint="It stays in this page and is sent to this service only."
          name="pasted"
          type="password"
          placeholder="sk_test_…"
          isRequired
        />
      )}
    </>
  );
}

const TIMEOUT_MS = 30_000;

async function run({ path, body }: TryRequest, secret: string): Promise<Answer> {
  const startedAt = performance.now();
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return {
    status: response.status,
    ms: performance.now() - startedAt,
    headers: [...response.headers],
    body: pretty(text),
    curl: [
      `curl ${location.origin}${path}`,
      `-H "authorization: Bearer $API_KEY"`,
      "-H 'content-type: application/json'",
      `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
    ].join(" \\\n  "),
  };
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function AnswerView({ answer }: { answer: Answer }) {
  const isOk = answer.status < 400;
  return (
    <div class="answer">
      <p role="status">
        <Badge tone={isOk ? "ok" : "bad"}>{answer.status}</Badge> in {answer.ms.toFixed(0)} ms
      </p>
      <h3>Body</h3>
      <pre tabIndex={0} aria-label="Body">
        {answer.body}
      </pre>
      <h3>Headers</h3>
      <dl class="headers">
        {answer.headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="with-copy">
        <h3>curl</h3>
        <CopyButton text={answer.curl} label="Copy the curl line" />
      </div>
      <pre tabIndex={0} aria-label="curl line">
        {answer.curl}
      </pre>
    </div>
  );
}
