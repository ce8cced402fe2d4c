import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  value: T | undefined;
  error: Error | undefined;
  loading: boolean;
  again: () => void;
}

/** What `load` resolves to, and again whenever `keys` change; what is under way is aborted then. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, keys: unknown[]): Loaded<T> {
  const [state, set] = useState<{ value?: T; error?: Error; loading: boolean }>({ loading: true });
  const [turn, next] = useState(0);
  useEffect(() => {
    const control = new AbortController();
    set((old) => ({ ...old, loading: true }));
    load(control.signal).then(
      (value) => control.signal.aborted || set({ value, loading: false }),
      (error: Error) => control.signal.aborted || set({ error, loading: false }),
    );
    return () => control.abort();
  }, [...keys, turn]);
  const again = useCallback(() => next((old) => old + 1), []);
  return { value: state.value, error: state.error, loading: state.loading, again };
}

/** The width and height of an element as they change. */
export function useSize<E extends HTMLElement>() {
  const ref = useRef<E>(null);
  const [size, set] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      set((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, ...size };
}

/** `value`, once it has not changed for a while. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(() => value), ms);
    return () => clearTimeout(timer);
  }, [JSON.stringify(value), ms]);
  return settled;
}

/** Calls `action` at most once per frame, the last time it was asked to. */
export function useFrame(action: () => void): () => void {
  const latest = useRef(action);
  latest.current = action;
  const pending = useRef(0);
  useEffect(() => () => cancelAnimationFrame(pending.current), []);
  return useCallback(() => {
    cancelAnimationFrame(pending.current);
    pending.current = requestAnimationFrame(() => latest.current());
  }, []);
}
