/** What a catalogue entry says about one kind of failure. */
export interface ErrorEntry {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Message of the error envelope when the thrower gives none. */
  readonly message: string;
  /** What has happened, for the API documents. */
  readonly meaning: string;
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
    meaning: "The request came unencrypted, over a connection that leaves the machine.",
    retry: false,
    help: "Call the service over https, or through a proxy it is configured to trust.",
  },
  INVALID_API_KEY: {
    status: 401,
    message: "Invalid API key",
    meaning:
      "The key is missing, mistyped, unknown, revoked, expired, past its grace, or not allowed from this address.",
    retry: false,
    help: "Send a valid key as `Authorization: Bearer <key>` or `x-api-key: <key>`.",
  },
  INVALID_ADMIN_TOKEN: {
    status: 401,
    message: "Invalid admin token",
    meaning: "The operator's token is missing or not the one in force.",
    retry: false,
    help: "Send the operator's token as `Authorization: Bearer <token>`.",
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: "Rate limit exceeded",
    meaning: "The key has used up the requests of its window. Nothing was done or charged.",
    retry: true,
    help: "Wait for the number of seconds in `Retry-After`; the window is 60 seconds.",
  },
  CU_ALLOWANCE_EXCEEDED: {
    status: 429,
    message: "Rate limit exceeded",
    meaning:
      "The key's compute units of this calendar month (UTC) do not cover the request. Nothing was done or charged.",
    retry: true,
    help: "The key's compute units of this calendar month are used up. Raise the allowance or wait.",
  },
  TOO_MANY_SOCKETS: {
    status: 429,
    message: "Too many WebSocket connections",
    meaning: "The key has as many WebSocket connections open as it may have.",
    retry: true,
    help: "Close a connection of this key, or send more over the ones that are open.",
  },
  SCOPE_REQUIRED: {
    status: 403,
    message: "Scope is required for this endpoint.",
    meaning: "The key is valid, but was not granted the scope of this endpoint.",
    retry: false,
    help: "Use a key that was granted the scope named in the message.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    message: "Not found",
    meaning: "There is no endpoint at this path.",
    retry: false,
    help: "Check the path against /swagger.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "Method not allowed",
    meaning: "The path exists, but not for this method.",
    retry: false,
    help: "Use one of the methods in the `Allow` header.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    message: "Request body too large",
    meaning: "The request body is larger than the service reads.",
    retry: false,
    help: "Send a body of at most the configured size, 1 MiB by default.",
  },
  INVALID_JSON: {
    status: 400,
    message: "Request body is not valid JSON",
    meaning: "The request body is not a JSON object in UTF-8.",
    retry: false,
    help: "Send one JSON object with `Content-Type: application/json`.",
  },
  MISSING_FIELD: {
    status: 400,
    message: "Missing required fields",
    meaning: "A required field is absent or null.",
    retry: false,
    help: "Send every required field of the request.",
  },
  INVALID_FIELD: {
    status: 400,
    message: "Invalid field",
    meaning: "A field, query parameter or header has a value it cannot have.",
    retry: false,
    help: "The message names the field and what it must be.",
  },
  INVALID_RPC_REQUEST: {
    status: 400,
    message: "Invalid Request",
    meaning: "The body is not a JSON-RPC 2.0 request, or the network in the path is not served.",
    retry: false,
    help: "Send a JSON-RPC 2.0 request object, or an array of at most 100 of them.",
  },
  UNSUPPORTED_CHAIN: {
    status: 400,
    message: "Unsupported chainId",
    meaning: "The service does not know the network, or does not serve this operation on it.",
    retry: false,
    help: "Use a network of the service's registry.",
  },
  UNKNOWN_TOKEN: {
    status: 400,
    message: "Unknown token",
    meaning: "The network's registry has no token of this symbol.",
    retry: false,
    help: "Use a symbol of the network's registry or a contract address.",
  },
  UNKNOWN_VENUE: {
    status: 400,
    message: "Unknown dexId",
    meaning: "The network has no enabled DEX of this id.",
    retry: false,
    help: "Use an id of GET /api/public/swap/dexes that is enabled on the network.",
  },
  NO_ROUTE: {
    status: 404,
    message: "No valid route found",
    meaning: "No path of pools gives anything for this pair and amount.",
    retry: true,
    help: "No pool connects the tokens, or none can fill the amount. Try a smaller amount.",
  },
  QUOTE_EXPIRED: {
    status: 400,
    message: "Quote no longer holds",
    meaning: "The market has moved, so that the quote's minimum can no longer be kept.",
    retry: false,
    help: "Ask for a new quote; the message says how far the market moved.",
  },
  INVALID_QUOTE: {
    status: 400,
    message: "Invalid quote",
    meaning: "The quote was changed, is incomplete, or does not belong to this network.",
    retry: false,
    help: "Pass the quote back unchanged, or ask for a new one.",
  },
  EXECUTOR_NOT_DEPLOYED: {
    status: 400,
    message: "The swap executor is not deployed on this chain",
    meaning: "The contract that swaps run through does not exist on this network yet.",
    retry: false,
    help: "The operator deploys it with `bun run executor deploy`.",
  },
  SIMULATION_FAILED: {
    status: 400,
    message: "The transaction would fail",
    meaning: "The built transaction was tried against the chain's state and reverted.",
    retry: false,
    help: "The message gives the decoded reason; fix it and build again.",
  },
  SIMULATION_UNAVAILABLE: {
    status: 400,
    message: "Swap cannot be simulated yet",
    meaning:
      "The wallet is not ready, and no way was found to try the swap as if it were. Nothing is returned that was not seen to work.",
    retry: true,
    help: "Fund the wallet and approve the executor, as the message says, then build again.",
  },
  RPC_URL_REFUSED: {
    status: 400,
    message: "rpcUrl is not allowed",
    meaning:
      "The URL is not one that the service calls: another scheme, a private address, or credentials in it.",
    retry: false,
    help: "Use a public http(s) URL of a node; private addresses are refused.",
  },
  RPC_URL_UNREACHABLE: {
    status: 400,
    message: "Failed to reach rpcUrl",
    meaning: "The node at the caller's rpcUrl did not answer, or not in time.",
    retry: true,
    help: "Check that the node at rpcUrl answers and serves the named network.",
  },
  RPC_URL_WRONG_NETWORK: {
    status: 400,
    message: "rpcUrl serves another network",
    meaning: "The node at the caller's rpcUrl serves another network than the one named.",
    retry: false,
    help: "Name the network that the node at rpcUrl serves, or use a node of the named one.",
  },
  UNSUPPORTED_BRIDGE_TOKEN: {
    status: 400,
    message: "Token must be USDC for CCTP bridge",
    meaning: "Only USDC moves over the bridge.",
    retry: false,
    help: 'Only USDC can be bridged: send `"token": "USDC"`.',
  },
  INVALID_RECIPIENT: {
    status: 400,
    message: "Invalid recipientAddress",
    meaning: "The recipient is no address that can be minted to on the destination network.",
    retry: false,
    help: "Send a wallet address of the destination network.",
  },
  TEST_KEY_ON_MAINNET: {
    status: 403,
    message: "Test keys cannot move mainnet funds",
    meaning: "An `sk_test_` key asked for a transfer between mainnet networks.",
    retry: false,
    help: "Use a live key for mainnet networks, or bridge between testnets.",
  },
  INVALID_AUTHORIZATION: {
    status: 400,
    message: "Invalid authorization",
    meaning:
      "The signed authorization does not cover this transfer, is not the sender's, or is not valid now.",
    retry: false,
    help: "Sign an EIP-3009 authorization bound to this very transfer; the message says what is wrong.",
  },
  BRIDGE_LIMIT_EXCEEDED: {
    status: 403,
    message: "Bridge limit exceeded",
    meaning:
      "The transfer would pass a limit per transfer, per key and day, or of the whole service. Nothing was burned.",
    retry: false,
    help: "The message names the limit. Send less, or ask the operator for more; days are UTC.",
  },
  BRIDGE_FEE_TOO_HIGH: {
    status: 500,
    message: "Internal bridge execution failure",
    meaning:
      "Minting on the destination costs more at present than the operator allows. Nothing was burned.",
    retry: true,
    help: "Every way to mint costs more than the operator allows for this amount. Nothing was burned.",
  },
  BRIDGE_DISABLED: {
    status: 500,
    message: "Internal bridge execution failure",
    meaning: "The operator has closed the bridge for new transfers. Nothing was burned.",
    retry: true,
    help: "The operator takes no new transfers at present; those under way are finished.",
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: "Idempotency-Key was used with another request body",
    meaning: "The Idempotency-Key already stands for a transfer with other values.",
    retry: false,
    help: "Use a new Idempotency-Key for a new transfer, or repeat the very same body.",
  },
  TRANSFER_NOT_FOUND: {
    status: 404,
    message: "Transfer not found",
    meaning: "No transfer that this key may see has this transaction hash.",
    retry: false,
    help: "Use a transaction hash the bridge answered with.",
  },
  BRIDGE_FAILED: {
    status: 500,
    message: "Internal bridge execution failure",
    meaning: "The transfer could not be started. Nothing was burned and nothing will be.",
    retry: true,
    help: "Nothing was burned. Retry with the same Idempotency-Key.",
  },
  UPSTREAM_UNREACHABLE: {
    status: 502,
    message: "Failed to reach upstream RPC endpoint",
    meaning: "Every node of the chain failed or was silent until the deadline.",
    retry: true,
    help: "No node of the chain answered in time. Retry shortly.",
  },
  UPSTREAM_REFUSED: {
    status: 400,
    message: "The upstream cannot be used",
    meaning:
      "The node cannot be added: it does not answer, serves another chain, or is known already.",
    retry: false,
    help: "The message says why. A node is added only once it has answered with the chain's id.",
  },
  UNKNOWN_UPSTREAM: {
    status: 404,
    message: "No upstream has this id",
    meaning: "No node has the id in the path.",
    retry: false,
    help: "Take the id from GET /console/api/upstreams.",
  },
  SIGNED_OUT: {
    status: 401,
    message: "Not signed in",
    meaning: "There is no open console session, or it has expired.",
    retry: false,
    help: "Sign in at /console; sessions end after a while, and when you sign out.",
  },
  SIGN_IN_FAILED: {
    status: 401,
    message: "Sign-in failed",
    meaning:
      "The signature is not the wallet's for a message given out here, or its message has expired.",
    retry: false,
    help: "Ask for a new message and sign exactly that with the wallet you named.",
  },
  TOO_MANY_SIGN_INS: {
    status: 429,
    message: "Too many sign-in attempts",
    meaning: "Too many sign-ins were tried from this address or for this wallet.",
    retry: true,
    help: "Wait for the number of seconds in `Retry-After`.",
  },
  SIGN_UP_CLOSED: {
    status: 403,
    message: "This wallet has no account here, and new accounts cannot be made",
    meaning: "The wallet has no account, and the operator has sign-up switched off.",
    retry: false,
    help: "Ask the operator for an account.",
  },
  INVITATION_NEEDED: {
    status: 403,
    message: "A valid invitation is needed to sign up",
    meaning: "The wallet has no account, and the invitation is missing, used, revoked or expired.",
    retry: false,
    help: "Ask the operator for an invitation; each can be used once, until it expires.",
  },
  ACCOUNT_DISABLED: {
    status: 403,
    message: "The account is disabled",
    meaning: "The operator has disabled the account; its keys are refused too.",
    retry: false,
    help: "Ask the operator to enable it again.",
  },
  WALLET_SIGN_IN_UNAVAILABLE: {
    status: 400,
    message: "Wallet sign-in is not available at this address",
    meaning:
      "The service does not know the origin it is reached at, which signed messages must name.",
    retry: false,
    help: "The operator sets `console.publicUrl` to the origin the console is opened at.",
  },
  FOREIGN_ORIGIN: {
    status: 403,
    message: "Request from another origin",
    meaning: "A page of another origin tried to act with the session's cookie.",
    retry: false,
    help: "The console's own pages send `Origin` and `X-Causeway-Console`; scripts use the admin token.",
  },
  OPERATOR_ONLY: {
    status: 403,
    message: "Only the operator may do this",
    meaning: "The session is a developer's, and this belongs to the operator.",
    retry: false,
    help: "Sign in with the admin token.",
  },
  KEY_REFUSED: {
    status: 400,
    message: "The key cannot be made or changed like this",
    meaning: "What was asked of the key breaks a rule of the account or of keys.",
    retry: false,
    help: "The message says what is not possible.",
  },
  UNKNOWN_KEY: {
    status: 404,
    message: "No key has this id",
    meaning: "No key that this session may see has the id.",
    retry: false,
    help: "Take the id from the console's list of keys.",
  },
  UNKNOWN_ACCOUNT: {
    status: 404,
    message: "No account has this id",
    meaning: "No account has the id in the path.",
    retry: false,
    help: "Take the id from the console's list of accounts.",
  },
  UNKNOWN_INVITATION: {
    status: 404,
    message: "No open invitation has this id",
    meaning: "No open invitation has the id in the path.",
    retry: false,
    help: "Take the id from the console's list of invitations; used ones stay as they are.",
  },
  TRANSFER_IS_FINAL: {
    status: 409,
    message: "The transfer has ended; there is nothing to resume",
    meaning: "The transfer is completed or failed.",
    retry: false,
    help: "Only transfers under way can be resumed.",
  },
  PRICE_FEED_UNREACHABLE: {
    status: 502,
    message: "Failed to reach upstream pricing feed",
    meaning: "No price source answered with a price that is fresh enough.",
    retry: true,
    help: "No price source gave a fresh price. Retry shortly.",
  },
  INTERNAL: {
    status: 500,
    message: "Internal server error",
    meaning: "The service failed in a way it did not expect. Nothing was charged.",
    retry: true,
    help: "Report the `X-Request-Id` to the operator.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** A stable error code, the value of the `X-Error-Code` header. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Whether a value is a code of the catalogue. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(errorCatalogue, code);
}

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
