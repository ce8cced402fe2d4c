import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { link, useRoute, type Route } from "./lib/router";
import { connected, dismiss, jobs, messages, status, useStore } from "./lib/store";
import { choice, choose, type Choice } from "./lib/theme";
import { Compare } from "./pages/compare";
import { DataPage } from "./pages/data";
import { DesignPage } from "./pages/design";
import { Home } from "./pages/home";
import { Neighbors } from "./pages/neighbors";
import { Predict } from "./pages/predict";
import { Queue } from "./pages/queue";
import { Rescoring } from "./pages/rescoring";
import { RunPage } from "./pages/run";
import { Empty, LinkButton } from "./ui/basic";
import { Icon, Logo } from "./ui/icons";

const pages: Record<string, ComponentType<{ route: Route }>> = {
  home: Home,
  data: DataPage,
  design: DesignPage,
  queue: Queue,
  runs: RunPage,
  compare: Compare,
  predict: Predict,
  rescoring: Rescoring,
  neighbors: Neighbors,
};

const entries = [
  ["home", "Home", "home"],
  ["data", "Data", "data"],
  ["design", "Design", "design"],
  ["queue", "Jobs", "queue"],
  ["compare", "Compare", "compare"],
  ["predict", "Predict", "predict"],
  ["rescoring", "Rescoring", "rescore"],
  ["neighbors", "Neighbours", "neighbors"],
] as const;

function Themes() {
  const now = useStore(choice);
  const one = (value: Choice, text: string) => (
    <button type="button" aria-pressed={now === value} onClick={() => choose(value)}>
      {text}
    </button>
  );
  return (
    <div class="themes" role="group" aria-label="Colours">
      {one("light", "Light")}
      {one("dark", "Dark")}
      {one("system", "Auto")}
    </div>
  );
}

function Side({ page }: { page: string }) {
  const server = useStore(status);
  const running = useStore(jobs).filter((job) => job.state === "running" || job.state === "queued").length;
  const here = page === "runs" ? "home" : page;
  return (
    <header class="side">
      <a class="brand" href={link("home")} aria-label="Sheaf, home">
        <Logo />
        <span>Sheaf</span>
      </a>
      <nav aria-label="Pages">
        {entries.map(([name, title, icon]) => (
          <a key={name} href={link(name)} aria-current={here === name ? "page" : undefined}>
            <Icon name={icon} />
            {title}
            {name === "queue" && running > 0 && (
              <span class="count" aria-label={`${running} running or waiting`}>
                {running}
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="side-foot">
        <Themes />
        {server && (
          <span>
            {server.folder}
            <br />
            Sheaf {server.version}
            {server.read_only && " · read only"}
          </span>
        )}
      </div>
    </header>
  );
}

function Messages() {
  return (
    <div class="messages" aria-live="polite">
      {useStore(messages).map((message) => (
        <div key={message.id} class={`message${message.error ? " error" : ""}`} role={message.error ? "alert" : "status"}>
          <span>{message.text}</span>
          <button type="button" aria-label="Close" onClick={() => dismiss(message.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

export function App() {
  const route = useRoute();
  const online = useStore(connected);
  const Page = pages[route.page];
  const key = `${route.page}/${route.id}`;
  const first = useRef(true);
  // The next page begins at its top, for eyes and for screen readers.
  useEffect(() => {
    if (first.current) first.current = false;
    else {
      scrollTo(0, 0);
      document.querySelector<HTMLElement>("h1")?.focus();
    }
  }, [key]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("h1")?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="shell">
        <Side page={route.page} />
        <main id="main">
          {!online && (
            <p class="offline" role="alert">
              The connection to Sheaf is interrupted. Jobs go on; this page connects again by itself.
            </p>
          )}
          {Page ? (
            <Page key={key} route={route} />
          ) : (
            <Empty title="There is no such page.">
              <LinkButton href={link("home")}>Home</LinkButton>
            </Empty>
          )}
        </main>
      </div>
      <Messages />
    </>
  );
}
