// Addresses within the page: #/runs/ID?tab=points. They need nothing from the server and work below any prefix.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  page: string;
  id: string;
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = ""] = path.split("/");
  return { page: page || "home", id: decodeURIComponent(id), query: new URLSearchParams(query) };
}

export function link(page: string, id = "", query: Record<string, string | undefined> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(set).toString();
  return `#/${page === "home" ? "" : page}${id ? "/" + encodeURIComponent(id) : ""}${text ? "?" + text : ""}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Replaces the address without a step in the history, as for a tab. */
export function replace(address: string): void {
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const update = () => set(parse(location.hash));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
}
