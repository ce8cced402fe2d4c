// Datasets and runs of the folder.
import { useEffect, useState } from "preact/hooks";

import { get, post, runs as allRuns } from "../lib/api";
import { ago, bytes, duration, grouped, score } from "../lib/format";
import { useLoad, useSettled } from "../lib/hooks";
import { go, link, type Route } from "../lib/router";
import { changes, complain, jobs, status, useStore } from "../lib/store";
import type { Dataset, Run } from "../lib/types";
import { Button, Card, Empty, Failure, LinkButton, PageHead, Select, State, Waiting } from "../ui/basic";
import { Drop } from "../ui/drop";
import { Heading, Table, type Column, type Order } from "../ui/table";

export const modelName = (run: Run): string => (run.kind === "rescore" ? "rescoring" : (run.model ?? run.kind));

export const valueText = (run: Run): string =>
  run.value == null ? "-" : run.kind === "rescore" ? `${grouped(run.value)} PSMs` : `${score(run.value)}${run.standard_error == null ? "" : ` ± ${score(run.standard_error)}`}`;

export function Demonstration({ kind = "plain" }: { kind?: "main" | "plain" }) {
  const [busy, set] = useState(false);
  const make = async () => {
    set(true);
    try {
      go(link("data", (await post<Dataset>("demonstration")).id));
    } catch (error) {
      complain(error);
      set(false);
    }
  };
  return (
    <Button kind={kind} onClick={make} disabled={busy}>
      {busy ? "Making the demonstration …" : "Try the demonstration"}
    </Button>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <Card title="Your own data" about="A table with one row for each sample and a column to predict.">
        <Drop title="Drop a file here" onDataset={(dataset) => go(link("data", dataset.id))} />
      </Card>
      <Card
        title="A demonstration"
        about="Counts of 20,000 microbes in 400 samples, healthy and sick. 40 of the microbes decide who is sick: see whether the search finds them."
      >
        <Demonstration kind="main" />
        <h3>What happens then</h3>
        <ol>
          <li>Sheaf describes the data and says what to mind.</li>
          <li>You design a search; the automatic choice suits most data.</li>
          <li>Models are trained side by side while you watch.</li>
          <li>The best one predicts new rows and explains each prediction.</li>
        </ol>
      </Card>
    </div>
  );
}

const datasetColumns: Column<Dataset>[] = [
  { name: "name", title: "dataset", key: (d) => d.path, cell: (d) => <a class="row-name" href={link("data", d.id)}>{d.path}</a> },
  { name: "rows", title: "rows", right: true, key: (d) => d.rows, cell: (d) => (d.rows == null ? "-" : grouped(d.rows)) },
  { name: "features", title: "features", right: true, key: (d) => d.features, cell: (d) => (d.features == null ? "-" : grouped(d.features)) },
  { name: "bytes", title: "size", right: true, key: (d) => d.bytes, cell: (d) => bytes(d.bytes) },
  { name: "modified", title: "changed", right: true, key: (d) => d.modified, cell: (d) => ago(d.modified) },
  {
    name: "do",
    title: "what to do",
    bare: true,
    right: true,
    cell: (d) => (
      <LinkButton small href={d.kind === "psms" ? link("rescoring", "", { dataset: d.id }) : link("design", "", { dataset: d.id })}>
        {d.kind === "psms" ? "Rescore" : "Search"}
      </LinkButton>
    ),
  },
];

function Datasets({ list }: { list: Dataset[] }) {
  const [query, setQuery] = useState("");
  const shown = list.filter((dataset) => dataset.path.toLowerCase().includes(query.toLowerCase()));
  return (
    <Card
      title="Datasets"
      wide
      actions={
        <>
          <input class="search" type="search" aria-label="Find datasets" placeholder="Find datasets" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
          <LinkButton href={link("data")}>Add data</LinkButton>
        </>
      }
    >
      <Table rows={shown} columns={datasetColumns} label="Datasets" id={(dataset) => dataset.id} order={{ name: "modified", down: true }} most={50} />
    </Card>
  );
}

const pageRows = 100;

function Runs({ onShown }: { onShown: () => void }) {
  const [query, setQuery] = useState("");
  const [state, setState] = useState("");
  const [order, setOrder] = useState<Order>({ name: "modified", down: true });
  const [count, setCount] = useState(pageRows);
  const [picked, setPicked] = useState<string[]>([]);
  const settled = useSettled(query, 200);
  const version = useStore(changes);
  const working = useStore(jobs);
  const list = useLoad(
    (signal) => allRuns({ sort: (order.down ? "-" : "") + order.name, query: settled, state }, count, signal),
    [settled, state, order, count, version],
  );
  useEffect(() => {
    if (list.value || list.error) onShown();
  }, [list.value, list.error]);
  const pick = (id: string, on: boolean) => setPicked((old) => (on ? [...old, id] : old.filter((one) => one !== id)));
  const columns: Column<Run>[] = [
    {
      name: "pick",
      title: "compare",
      bare: true,
      cell: (run) => (
        <input
          type="checkbox"
          aria-label={`Compare ${run.name}`}
          checked={picked.includes(run.id)}
          disabled={run.kind !== "search" || run.state !== "done"}
          onChange={(event) => pick(run.id, event.currentTarget.checked)}
        />
      ),
    },
    { name: "name", title: "run", long: true, key: (r) => r.path, cell: (r) => <a class="row-name" href={link("runs", r.id)}>{r.path}</a> },
    {
      name: "state",
      title: "state",
      key: (r) => r.state,
      cell: (r) => {
        const progress = working.find((job) => job.run === r.id)?.progress;
        return (
          <>
            <State state={r.state} />
            {r.state === "running" && progress && progress.total > 0 && <span class="soft num"> {Math.round((100 * progress.done) / progress.total)} %</span>}
          </>
        );
      },
    },
    { name: "source", title: "dataset", long: true, cell: (r) => r.source ?? "-" },
    { name: "model", title: "model", key: (r) => r.model, cell: (r) => modelName(r) },
    { name: "score", title: "score", cell: (r) => r.score_title ?? "-" },
    {
      name: "value",
      title: "best ± std. error",
      right: true,
      key: (r) => r.value,
      cell: (r) => (
        <>
          {r.nested && <span class="badge" title="estimated by nested validation">nested</span>} {valueText(r)}
        </>
      ),
    },
    { name: "seconds", title: "took", right: true, key: (r) => r.seconds, cell: (r) => (r.seconds == null ? "-" : duration(r.seconds)) },
    { name: "modified", title: "changed", right: true, key: (r) => r.modified, cell: (r) => ago(r.modified) },
  ];
  return (
    <Card
      title="Runs"
      wide
      actions={
        <>
          {picked.length > 0 && (
            <LinkButton kind="main" href={link("compare", "", { runs: picked.join(",") })}>
              Compare {picked.length}
            </LinkButton>
          )}
          <Select
            label="state"
            value={state}
            onChange={setState}
            options={[
              { value: "", text: "all" },
              ...["running", "queued", "stopped", "failed", "done"].map((value) => ({ value, text: value === "queued" ? "waiting" : value })),
            ]}
          />
          <input class="search" type="search" aria-label="Find runs" placeholder="Find runs" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
        </>
      }
    >
      {list.error && <Failure error={list.error} again={list.again} />}
      {!list.value && !list.error && <Waiting />}
      {list.value && list.value.runs.length === 0 && (
        <Empty title={query || state ? "No run fits." : "No runs yet."}>{!query && !state && <p>Results of the command line, Python and R below this folder appear here too.</p>}</Empty>
      )}
      {list.value && list.value.runs.length > 0 && (
        <>
          <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
            <table>
              <thead>
                <tr>
                  {columns.map((column) => (
                    <Heading key={column.name} column={column} order={order} onOrder={setOrder} />
                  ))}
                </tr>
              </thead>
              <tbody>
                {list.value.runs.map((run) => (
                  <tr key={run.id}>
                    {columns.map((column) => (
                      <td key={column.name} class={column.right ? "r" : column.long ? "wrap" : ""}>
                        {column.cell(run)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {list.value.runs.length < list.value.total && (
            <Button small onClick={() => setCount(count + 10 * pageRows)}>
              Show more of {grouped(list.value.total)} runs
            </Button>
          )}
        </>
      )}
    </Card>
  );
}

export function Home(_: { route: Route }) {
  const version = useStore(changes);
  const server = useStore(status);
  const datasets = useLoad((signal) => get<{ datasets: Dataset[] }>("datasets", {}, signal), [version]);
  const runs = useLoad((signal) => allRuns({}, 1, signal), [version]);
  const [runsShown, setRunsShown] = useState(false);
  const empty = datasets.value && runs.value && datasets.value.datasets.length === 0 && runs.value.total === 0;
  return (
    <>
      <PageHead title="Home" about={server ? `Datasets and results in ${server.folder}` : undefined}>
        {datasets.value && !empty && !server?.read_only && (
          <>
            <Demonstration />
            <LinkButton kind="main" href={link("design")}>
              New search
            </LinkButton>
          </>
        )}
      </PageHead>
      {datasets.error && <Failure error={datasets.error} again={datasets.again} />}
      {!datasets.value && !datasets.error && <Waiting />}
      {empty && !server?.read_only && <Welcome />}
      {datasets.value && !empty && (
        <div class="cards">
          <Runs onShown={() => setRunsShown(true)} />
          {/* Runs that appear later would push datasets down, below the pointer of whoever is about to click on one. */}
          {runsShown && <Datasets list={datasets.value.datasets} />}
        </div>
      )}
    </>
  );
}
