import type { ShownKey } from "./keys.ts";
import { isUpgrade, shownKey } from "./presentedKey.ts";

/** What is known of a request before its body, however it was read. */
export interface RequestHead {
  readonly method: string;
  /** Path of the target, without the query. */
  readonly path: string;
  /** The key it brings, where it brings one. */
  readonly shown: ShownKey | undefined;
  /** Value of a field; those sent several times joined by commas. @param name - in lower case */
  get(name: string): string | null;
}

/** The head of a request that the runtime's own server read. */
export class RuntimeHead implements RequestHead {
  constructor(private readonly request: Request) {}

  get method(): string {
    return this.request.method;
  }

  get path(): string {
    return pathOf(this.request.url);
  }

  get shown(): ShownKey | undefined {
    return shownKey(this, isUpgrade(this));
  }

  get(name: string): string | null {
    return this.request.headers.get(name);
  }
}

/** The path of a request's absolute URL, without the query. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start === -1) return "/";
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}
