/** A value now (SQLite) or later (a database over the network). Callers await either. */
export type Awaitable<Value> = Value | Promise<Value>;
