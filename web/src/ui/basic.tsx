import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../lib/api";
import { duration, percent } from "../lib/format";
import { say } from "../lib/store";
import type { JobState, Progress } from "../lib/types";

export function Card(props: { title?: string; about?: ComponentChildren; wide?: boolean; children?: ComponentChildren; class?: string; actions?: ComponentChildren }) {
  return (
    <section class={`card${props.wide ? " wide" : ""} ${props.class ?? ""}`}>
      {(props.title || props.actions) && (
        <div class="card-head">
          {props.title && <h2>{props.title}</h2>}
          {props.actions && <div class="actions">{props.actions}</div>}
        </div>
      )}
      {props.about && <p class="about">{props.about}</p>}
      {props.children}
    </section>
  );
}

export function Tiles({ list }: { list: { value: ComponentChildren; label: string; main?: boolean }[] }) {
  return (
    <dl class="tiles">
      {list.map(({ value, label, main }) => (
        <div key={label} class={`tile${main ? " main" : typeof value === "string" && value.length > 16 ? " long" : ""}`}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Notes({ list }: { list: { text: ComponentChildren; warning?: boolean; action?: ComponentChildren }[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="findings">
      {list.map((note, k) => (
        <li key={k} class={note.warning ? "warning" : "note"}>
          <span>{note.text}</span>
          {note.action}
        </li>
      ))}
    </ul>
  );
}

type ButtonProps = ComponentProps<"button"> & { kind?: "main" | "plain" | "danger"; small?: boolean };

export function Button({ kind = "plain", small, class: extra, ...rest }: ButtonProps) {
  return <button type="button" class={`button ${kind}${small ? " small" : ""} ${extra ?? ""}`} {...rest} />;
}

export function LinkButton(props: { href: string; kind?: "main" | "plain"; small?: boolean; children: ComponentChildren; download?: boolean }) {
  return (
    <a class={`button ${props.kind ?? "plain"}${props.small ? " small" : ""}`} href={props.href} download={props.download}>
      {props.children}
    </a>
  );
}

const stateWords: Record<string, string> = {
  queued: "waiting",
  running: "running",
  stopping: "stopping",
  stopped: "stopped",
  done: "done",
  failed: "failed",
};

export function State({ state }: { state: JobState | string }) {
  return <span class={`state ${state}`}>{stateWords[state] ?? state}</span>;
}

export function Waiting({ what = "Loading" }: { what?: string }) {
  return (
    <p class="waiting" role="status">
      <span class="spinner" aria-hidden="true" />
      {what} …
    </p>
  );
}

export function Failure({ error, again }: { error: Error; again?: () => void }) {
  const known = error instanceof ApiError && error.status === 404;
  return (
    <div class="failure" role="alert">
      <p>{error.message}</p>
      {again && !known && (
        <Button small onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function ProgressBar({ progress, label }: { progress: Progress | null; label?: string }) {
  const share = progress && progress.total > 0 ? progress.done / progress.total : null;
  const left = progress?.seconds_left;
  const text = [
    label ?? progress?.stage ?? "",
    share === null ? "" : `${percent(share)} (${progress!.done} of ${progress!.total})`,
    left == null ? "" : `about ${duration(left)} left`,
  ].filter(Boolean);
  return (
    <div class="progress">
      <progress aria-label={label ?? progress?.stage ?? "progress"} {...(share === null ? {} : { value: share, max: 1 })} />
      <span>{text.join(" · ")}</span>
    </div>
  );
}

/** Text to copy, such as a command. */
export function CopyBlock({ text, label }: { text: string; label: string }) {
  const [copied, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      set(true);
      setTimeout(() => set(false), 1500);
    } catch {
      say("The browser does not allow copying; mark the text and copy it.", true);
    }
  };
  return (
    <div class="copy">
      <pre tabIndex={0} aria-label={label}>
        {text.split(/((?<=\s)--?[a-z][\w-]*)/).map((part, k) => (k % 2 === 1 ? <span class="flag">{part}</span> : part))}
      </pre>
      <Button small onClick={copy} aria-label={`Copy: ${label}`}>
        {copied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}

export interface Tab {
  name: string;
  title: string;
}

/** Arrow keys move between tabs; the panel belongs to the chosen one. */
export function Tabs(props: { tabs: Tab[]; value: string; onChange: (name: string) => void; label: string; children: ComponentChildren }) {
  const list = useRef<HTMLDivElement>(null);
  const now = Math.max(0, props.tabs.findIndex((tab) => tab.name === props.value));
  const move = (event: KeyboardEvent) => {
    const count = props.tabs.length;
    const next = { ArrowRight: (now + 1) % count, ArrowLeft: (now + count - 1) % count, Home: 0, End: count - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    props.onChange(props.tabs[next]!.name);
    (list.current!.children[next] as HTMLElement).focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={props.label} ref={list} onKeyDown={move}>
        {props.tabs.map((tab, k) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`tab-${tab.name}`}
            aria-selected={k === now}
            aria-controls="tab-panel"
            tabIndex={k === now ? 0 : -1}
            onClick={() => props.onChange(tab.name)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${props.tabs[now]?.name}`} tabIndex={-1}>
        {props.children}
      </div>
    </>
  );
}

export function Select(props: { label: string; value: string; options: { value: string; text: string }[]; onChange: (value: string) => void }) {
  return (
    <label class="inline-field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Check(props: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={props.checked} onChange={(event) => props.onChange(event.currentTarget.checked)} />
      <span>{props.label}</span>
    </label>
  );
}

/** A question before something is removed. */
export function useConfirm(): [ComponentChildren, (text: string, action: string) => Promise<boolean>] {
  const [question, ask] = useState<{ text: string; action: string; answer: (yes: boolean) => void } | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question) dialog.current?.showModal();
  }, [question]);
  const close = (yes: boolean) => {
    question?.answer(yes);
    dialog.current?.close();
    ask(null);
  };
  const element = question && (
    <dialog ref={dialog} class="dialog" onCancel={() => close(false)} aria-label={question.text}>
      <p>{question.text}</p>
      <div class="actions">
        <Button onClick={() => close(false)}>Cancel</Button>
        <Button kind="danger" onClick={() => close(true)}>
          {question.action}
        </Button>
      </div>
    </dialog>
  );
  return [element, (text, action) => new Promise((answer) => ask({ text, action, answer }))];
}

export function PageHead(props: { title: string; about?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${props.title} · Sheaf`;
  }, [props.title]);
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{props.title}</h1>
        {props.about && <p>{props.about}</p>}
      </div>
      {props.children && <div class="actions">{props.children}</div>}
    </header>
  );
}
