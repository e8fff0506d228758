import type { SandboxInfo } from "./info.ts";

/** A caller of a sandbox's service. */
export interface ApiClient {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** One JSON-RPC call through the service's proxy. */
  rpc(chainId: number, method: string, params: readonly unknown[]): Promise<unknown>;
}

const TIMEOUT_MS = 15_000;

/**
 * A client that sends the sandbox's `all` key.
 * @throws Error (each method) with path, status and body when the answer is not a success
 */
export function createApiClient({ baseUrl, keys }: SandboxInfo): ApiClient {
  if (baseUrl === null || keys === null) throw new Error("this sandbox runs no service");
  async function request(path: string, init: RequestInit): Promise<unknown> {
    const response = await fetch(`${baseUrl}/api/public${path}`, {
      ...init,
      headers: { "x-api-key": keys?.all ?? "", "content-type": "application/json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }
  const client: ApiClient = {
    get: (path) => request(path, {}),
    post: (path, body) => request(path, { method: "POST", body: JSON.stringify(body) }),
    async rpc(chainId, method, params) {
      const reply = await client.post(`/rpc/${chainId}`, { jsonrpc: "2.0", id: 1, method, params });
      const { result, error } = reply as { result?: unknown; error?: { message: string } };
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    },
  };
  return client;
}
