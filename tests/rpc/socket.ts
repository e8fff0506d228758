import type { Proxy } from "./app.ts";

/** A notification as it came: its subscription and the result. */
export interface Pushed {
  readonly subscription: string;
  readonly result: Record<string, unknown>;
}

/** A JSON-RPC answer, parsed. */
export interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface SocketClient {
  readonly raw: WebSocket;
  readonly notifications: readonly Pushed[];
  /** Sends a message as it is and gives the next one that is no notification. */
  exchange(message: string | Uint8Array<ArrayBuffer>): Promise<string>;
  /** Sends a request with an id of its own and gives the parsed answer. */
  call(method: string, params?: readonly unknown[]): Promise<Answer>;
  /** As `call`, for a result. */
  result<Result = string>(method: string, params?: readonly unknown[]): Promise<Result>;
  /** Resolves when as many notifications have come and all satisfy the condition. */
  notified(count: number): Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

/** The socket URL of a proxy. */
export function socketUrl(proxy: Proxy, chain: string | number = 1): string {
  return proxy.url(chain).replace(/^http/, "ws");
}

/** Opens a socket with the proxy's key. */
export function openSocket(proxy: Proxy, chain: string | number = 1): Promise<SocketClient> {
  return connect(socketUrl(proxy, chain), { headers: { "x-api-key": proxy.secret } });
}

/** Opens a socket; rejects when the upgrade is refused. */
export async function connect(url: string, options?: unknown): Promise<SocketClient> {
  const raw = new WebSocket(url, options as string[]);
  const notifications: Pushed[] = [];
  const expected: ((text: string) => void)[] = [];
  const byId = new Map<unknown, (answer: Answer) => void>();
  let onNotified: (() => void) | undefined;
  let lastId = 0;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    raw.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  raw.addEventListener("message", ({ data }) => {
    const text = String(data);
    if (text.startsWith('{"jsonrpc":"2.0","method":"eth_subscription"')) {
      notifications.push(JSON.parse(text).params);
      return onNotified?.();
    }
    const next = expected.shift();
    if (next) return next(text);
    const answer: Answer = JSON.parse(text);
    byId.get(answer.id)?.(answer);
    byId.delete(answer.id);
  });
  await new Promise<void>((resolve, reject) => {
    raw.addEventListener("open", () => resolve());
    raw.addEventListener("error", () => reject(new Error("the upgrade was refused")));
  });
  const client: SocketClient = {
    raw,
    notifications,
    closed,
    exchange(message) {
      const answer = new Promise<string>((resolve) => expected.push(resolve));
      raw.send(message);
      return answer;
    },
    call(method, params = []) {
      const id = ++lastId;
      const answer = new Promise<Answer>((resolve) => byId.set(id, resolve));
      raw.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return answer;
    },
    async result<Result>(method: string, params: readonly unknown[] = []) {
      const { result, error } = await client.call(method, params);
      if (error) throw new Error(`${method}: ${error.message} (${error.code})`);
      return result as Result;
    },
    notified: (count) =>
      new Promise((resolve) => {
        onNotified = () => {
          if (notifications.length >= count) resolve();
        };
        onNotified?.();
      }),
    async close() {
      raw.close();
      await closed;
    },
  };
  return client;
}
