// State that several pages share: a value, and who listens to it.
import { useEffect, useState } from "preact/hooks";

import { address, get } from "./api";
import { listen } from "./events";
import { nameScores } from "./format";
import type { Design, Job, Parameters, Status } from "./types";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  listen(listener: () => void): () => void;
}

export function store<T>(value: T): Store<T> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>(source: Store<T>): T {
  const [value, set] = useState(source.get());
  useEffect(() => {
    const update = () => set(() => source.get());
    update();
    return source.listen(update);
  }, [source]);
  return value;
}

export const status = store<Status | null>(null);
export const jobs = store<Job[]>([]);
/** Grows whenever runs or datasets of the folder change, so that lists ask again. */
export const changes = store(0);
export const connected = store(true);
export const messages = store<{ id: number; text: string; error: boolean }[]>([]);

let lastMessage = 0;

export function say(text: string, error = false): void {
  const message = { id: ++lastMessage, text, error };
  messages.set([...messages.get(), message]);
  setTimeout(() => dismiss(message.id), error ? 12_000 : 5_000);
}

export function dismiss(id: number): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}

/** Says what went wrong; an aborted request is no error. */
export function complain(error: unknown): void {
  if ((error as Error).name !== "AbortError") say((error as Error).message, true);
}

let known: Promise<Parameters> | undefined;

/** The parameter table; asked for once. */
export function parameters(): Promise<Parameters> {
  known ??= get<Parameters>("parameters").then(
    (table) => {
      nameScores(table.metrics);
      return table;
    },
    (error) => {
      known = undefined;
      throw error;
    },
  );
  return known;
}

/** Listens to the folder for as long as the page is open. */
export function follow(): void {
  const refresh = () => get<Status>("status").then(status.set, complain);
  void refresh();
  const changed = () => changes.set(changes.get() + 1);
  listen(
    address("events"),
    { jobs: (data) => jobs.set((JSON.parse(data) as { jobs: Job[] }).jobs), runs: changed, datasets: changed },
    (on) => {
      if (on && !connected.get()) void refresh();
      connected.set(on);
    },
  );
}

// Designs that are being made, one for each task; they outlive a reload of the page.
const draftKey = (task: string) => `sheaf-design-${task}`;

export function draft(task: string): Design {
  try {
    const kept = JSON.parse(sessionStorage.getItem(draftKey(task)) ?? "") as Design;
    if (Array.isArray(kept.datasets) && kept.settings) return kept;
  } catch {
    // none, or not readable
  }
  return { task, datasets: [], settings: {} };
}

export function keepDraft(design: Design): void {
  sessionStorage.setItem(draftKey(design.task), JSON.stringify(design));
}

/** Settings that the page of a dataset adds to a design of it; null removes one. */
export function addToDraft(task: string, dataset: string, settings: Design["settings"]): void {
  const old = draft(task);
  const same = old.datasets.length === 1 && old.datasets[0] === dataset;
  const merged = Object.entries({ ...(same ? old.settings : {}), ...settings }).filter(([, value]) => value !== null);
  keepDraft({ task, datasets: [dataset], settings: Object.fromEntries(merged) });
}
