/**
 * What nodes and node vendors say in JSON-RPC errors, as data. Vendors agree on neither codes nor
 * words, so texts are matched in lower case, and an error nobody listed belongs to the caller.
 */

/** Codes that mean "too many requests" whatever the message says. */
export const rateLimitCodes: ReadonlySet<number> = new Set([429, -32007, -32012, -32029]);

/** Codes that mean it only together with a matching text, as others use them differently. */
export const rateLimitText =
  /rate.?limit|too many requests?|compute units|credits? (?:limit|exhaust|exceed)|capacity (?:limit|exceeded)|exceeded.{0,40}capacity|(?:request|call|throughput)s?(?: per second)? limit|limit (?:reached|exceeded).{0,40}(?:request|second|plan)|quota|throttl|(?:daily|monthly).{0,20}limit|usage limit/;

/** The same code is used for answers that are too large; those are not about pace. */
export const rangeLimitText =
  /more than \d+ (?:results|logs)|block range|range (?:is )?too (?:large|wide)|query (?:returned|timeout)|response size|result set|too many (?:results|logs|blocks)|logs? (?:matched|limit)/;

/** Codes of a call that was executed and failed, or that the caller got wrong. */
export const finalCodes: ReadonlySet<number> = new Set([3, -32700, -32600, -32602, -32003, -32010]);

/** Outcomes of running a transaction or a call; the same on every node. */
export const executionText =
  /revert|insufficient funds|out of gas|gas required exceeds|intrinsic gas|nonce too|underpriced|already known|known transaction|already imported|invalid opcode|stack (?:under|over)flow|max fee per gas|exceeds block gas limit|invalid (?:sender|signature|transaction|argument|params)|transaction type not supported/;

/** The node lacks the data; another may have it. */
export const missingDataText =
  /header not found|missing trie node|(?:block|state|history|transaction) (?:is )?not (?:found|available)|unknown block|beyond (?:current|the) (?:head|chain)|pruned|not (?:yet )?(?:synced|indexed)|no state available|historical state|block.{0,30}out of range|distance to target block/;

/** The node or the plan behind it does not serve the method. */
export const unsupportedCodes: ReadonlySet<number> = new Set([-32601, -32004]);
export const unsupportedText =
  /method.{0,60}(?:not (?:found|supported|available|allowed|exist|whitelisted|enabled)|does not exist|disabled|unavailable)|not (?:available|supported|included) (?:on|in|for) your|upgrade (?:your|to a)|(?:unsupported|unknown) method/;

/** The node itself is in trouble. */
export const troubleCodes: ReadonlySet<number> = new Set([-32603, -32002]);
export const troubleText =
  /internal (?:server )?error|timed? ?out|temporar|unavailable|overload|try again|connection|no backend|upstream|bad gateway|request failed/;
