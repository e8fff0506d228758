/** What a catalogue entry says about one kind of failure. */
export interface ErrorEntry {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Message of the error envelope when the thrower gives none. */
  readonly message: string;
  /** Whether the same request may succeed later without being changed. */
  readonly retry: boolean;
  /** What the caller should do. */
  readonly help: string;
}

/**
 * Every failure a public route can answer with. The key is the stable value of the
 * `X-Error-Code` header; status and message are those of the API contract.
 */
export const errorCatalogue = {
  HTTPS_REQUIRED: {
    status: 403,
    message: "HTTPS is required",
    retry: false,
    help: "Call the service over https, or through a proxy it is configured to trust.",
  },
  INVALID_API_KEY: {
    status: 401,
    message: "Invalid API key",
    retry: false,
    help: "Send a valid key as `Authorization: Bearer <key>` or `x-api-key: <key>`.",
  },
  INVALID_ADMIN_TOKEN: {
    status: 401,
    message: "Invalid admin token",
    retry: false,
    help: "Send the operator's token as `Authorization: Bearer <token>`.",
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: "Rate limit exceeded",
    retry: true,
    help: "Wait for the number of seconds in `Retry-After`; the window is 60 seconds.",
  },
  CU_ALLOWANCE_EXCEEDED: {
    status: 429,
    message: "Rate limit exceeded",
    retry: true,
    help: "The key's compute units of this calendar month are used up. Raise the allowance or wait.",
  },
  TOO_MANY_SOCKETS: {
    status: 429,
    message: "Too many WebSocket connections",
    retry: true,
    help: "Close a connection of this key, or send more over the ones that are open.",
  },
  SCOPE_REQUIRED: {
    status: 403,
    message: "Scope is required for this endpoint.",
    retry: false,
    help: "Use a key that was granted the scope named in the message.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    message: "Not found",
    retry: false,
    help: "Check the path against /swagger.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "Method not allowed",
    retry: false,
    help: "Use one of the methods in the `Allow` header.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    message: "Request body too large",
    retry: false,
    help: "Send a body of at most the configured size, 1 MiB by default.",
  },
  INVALID_JSON: {
    status: 400,
    message: "Request body is not valid JSON",
    retry: false,
    help: "Send one JSON object with `Content-Type: application/json`.",
  },
  MISSING_FIELD: {
    status: 400,
    message: "Missing required fields",
    retry: false,
    help: "Send every required field of the request.",
  },
  INVALID_FIELD: {
    status: 400,
    message: "Invalid field",
    retry: false,
    help: "The message names the field and what it must be.",
  },
  INVALID_RPC_REQUEST: {
    status: 400,
    message: "Invalid Request",
    retry: false,
    help: "Send a JSON-RPC 2.0 request object, or an array of at most 100 of them.",
  },
  UNSUPPORTED_CHAIN: {
    status: 400,
    message: "Unsupported chainId",
    retry: false,
    help: "Use a network of the service's registry.",
  },
  UNKNOWN_TOKEN: {
    status: 400,
    message: "Unknown token",
    retry: false,
    help: "Use a symbol of the network's registry or a contract address.",
  },
  UNKNOWN_VENUE: {
    status: 400,
    message: "Unknown dexId",
    retry: false,
    help: "Use an id of GET /api/public/swap/dexes that is enabled on the network.",
  },
  NO_ROUTE: {
    status: 404,
    message: "No valid route found",
    retry: true,
    help: "No pool connects the tokens, or none can fill the amount. Try a smaller amount.",
  },
  QUOTE_EXPIRED: {
    status: 400,
    message: "Quote no longer holds",
    retry: false,
    help: "Ask for a new quote; the message says how far the market moved.",
  },
  INVALID_QUOTE: {
    status: 400,
    message: "Invalid quote",
    retry: false,
    help: "Pass the quote back unchanged, or ask for a new one.",
  },
  EXECUTOR_NOT_DEPLOYED: {
    status: 400,
    message: "The swap executor is not deployed on this chain",
    retry: false,
    help: "The operator deploys it with `bun run executor deploy`.",
  },
  SIMULATION_FAILED: {
    status: 400,
    message: "The transaction would fail",
    retry: false,
    help: "The message gives the decoded reason; fix it and build again.",
  },
  RPC_URL_REFUSED: {
    status: 400,
    message: "rpcUrl is not allowed",
    retry: false,
    help: "Use a public http(s) URL of a node; private addresses are refused.",
  },
  RPC_URL_UNREACHABLE: {
    status: 400,
    message: "Failed to reach rpcUrl",
    retry: true,
    help: "Check that the node at rpcUrl answers and serves the named network.",
  },
  RPC_URL_WRONG_NETWORK: {
    status: 400,
    message: "rpcUrl serves another network",
    retry: false,
    help: "Name the network that the node at rpcUrl serves, or use a node of the named one.",
  },
  UNSUPPORTED_BRIDGE_TOKEN: {
    status: 400,
    message: "Token must be USDC for CCTP bridge",
    retry: false,
    help: 'Only USDC can be bridged: send `"token": "USDC"`.',
  },
  INVALID_RECIPIENT: {
    status: 400,
    message: "Invalid recipientAddress",
    retry: false,
    help: "Send a wallet address of the destination network.",
  },
  TEST_KEY_ON_MAINNET: {
    status: 403,
    message: "Test keys cannot move mainnet funds",
    retry: false,
    help: "Use a live key for mainnet networks, or bridge between testnets.",
  },
  INVALID_AUTHORIZATION: {
    status: 400,
    message: "Invalid authorization",
    retry: false,
    help: "Sign an EIP-3009 authorization bound to this very transfer; the message says what is wrong.",
  },
  BRIDGE_LIMIT_EXCEEDED: {
    status: 403,
    message: "Bridge limit exceeded",
    retry: false,
    help: "The message names the limit. Send less, or ask the operator for more; days are UTC.",
  },
  BRIDGE_FEE_TOO_HIGH: {
    status: 500,
    message: "Internal bridge execution failure",
    retry: true,
    help: "Every way to mint costs more than the operator allows for this amount. Nothing was burned.",
  },
  BRIDGE_DISABLED: {
    status: 500,
    message: "Internal bridge execution failure",
    retry: true,
    help: "The operator takes no new transfers at present; those under way are finished.",
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: "Idempotency-Key was used with another request body",
    retry: false,
    help: "Use a new Idempotency-Key for a new transfer, or repeat the very same body.",
  },
  TRANSFER_NOT_FOUND: {
    status: 404,
    message: "Transfer not found",
    retry: false,
    help: "Use a transaction hash the bridge answered with.",
  },
  BRIDGE_FAILED: {
    status: 500,
    message: "Internal bridge execution failure",
    retry: true,
    help: "Nothing was burned. Retry with the same Idempotency-Key.",
  },
  UPSTREAM_UNREACHABLE: {
    status: 502,
    message: "Failed to reach upstream RPC endpoint",
    retry: true,
    help: "No node of the chain answered in time. Retry shortly.",
  },
  UPSTREAM_REFUSED: {
    status: 400,
    message: "The upstream cannot be used",
    retry: false,
    help: "The message says why. A node is added only once it has answered with the chain's id.",
  },
  UNKNOWN_UPSTREAM: {
    status: 404,
    message: "No upstream has this id",
    retry: false,
    help: "Take the id from GET /console/api/upstreams.",
  },
  PRICE_FEED_UNREACHABLE: {
    status: 502,
    message: "Failed to reach upstream pricing feed",
    retry: true,
    help: "No price source gave a fresh price. Retry shortly.",
  },
  INTERNAL: {
    status: 500,
    message: "Internal server error",
    retry: true,
    help: "Report the `X-Request-Id` to the operator.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** A stable error code, the value of the `X-Error-Code` header. */
export type ErrorCode = keyof typeof errorCatalogue;

/** A failure the caller is told about. Anything else that is thrown answers 500 `INTERNAL`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  /**
   * @param code - catalogue entry; decides the status
   * @param message - replaces the entry's message where it must name something
   * @param headers - extra answer headers, such as `Allow` or `Retry-After`
   */
  constructor(
    readonly code: ErrorCode,
    message?: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? errorCatalogue[code].message);
    this.status = errorCatalogue[code].status;
  }
}
