import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api.ts";

/** Data of one route, as far as it has come. */
export interface Loaded<Data> {
  /** Undefined until the first answer. */
  readonly data: Data | undefined;
  /** Of the last request, when it failed. */
  readonly error: unknown;
  readonly reload: () => void;
}

/**
 * Loads data of a route, again when the path changes, and in steps when asked to.
 * Older data stays while newer is on its way, so that nothing jumps.
 * @param everyMs - undefined: once; a hidden page does not ask
 */
export function useData<Data>(path: string, everyMs?: number): Loaded<Data> {
  const [state, setState] = useState<{ data?: Data; error?: unknown }>({});
  const newest = useRef(0);

  const load = useCallback(async () => {
    const turn = ++newest.current;
    try {
      const data = await ask<Data>(path);
      if (turn === newest.current) setState({ data });
    } catch (error) {
      if (turn === newest.current) setState((before) => ({ ...before, error }));
    }
  }, [path]);

  useEffect(() => {
    void load();
    const timer =
      everyMs === undefined
        ? undefined
        : setInterval(() => {
            if (!document.hidden) void load();
          }, everyMs);
    return () => {
      newest.current++;
      clearInterval(timer);
    };
  }, [load, everyMs]);

  return { data: state.data, error: state.error, reload: () => void load() };
}
