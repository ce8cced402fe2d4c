// Server-sent events of a page that is in view. A browser opens some six connections to one server, so a hidden page gives its own back
// and asks again when it is shown; the server then sends what was missed, or all of it.
export type Handlers = Record<string, (data: string) => void>;

export function listen(address: string, handlers: Handlers, connected?: (on: boolean) => void): () => void {
  let source: EventSource | null = null;
  const open = () => {
    if (source || document.visibilityState === "hidden") return;
    source = new EventSource(address);
    source.onopen = () => connected?.(true);
    source.onerror = () => connected?.(false);
    for (const [name, handle] of Object.entries(handlers)) source.addEventListener(name, (event) => handle((event as MessageEvent<string>).data));
  };
  const close = () => {
    source?.close();
    source = null;
  };
  const change = () => (document.visibilityState === "hidden" ? close() : open());
  document.addEventListener("visibilitychange", change);
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
  return () => {
    document.removeEventListener("visibilitychange", change);
    removeEventListener("pagehide", close);
    removeEventListener("pageshow", open);
    close();
  };
}
