import { useEffect, useState } from "preact/hooks";

/** Where the page stands: `#/transfers/abc` is page `transfers` with argument `abc`. */
export interface Location {
  readonly page: string;
  readonly argument: string | undefined;
}

function read(): Location {
  const [page = "", argument] = location.hash.replace(/^#\/?/, "").split("/");
  return { page, argument: argument === undefined ? undefined : decodeURIComponent(argument) };
}

/** Where the page stands, now and after every step. */
export function useLocation(): Location {
  const [current, setCurrent] = useState(read);
  useEffect(() => {
    const follow = () => setCurrent(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return current;
}

/** The link to a page. */
export function linkTo(page: string, argument?: string): string {
  return argument === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(argument)}`;
}
