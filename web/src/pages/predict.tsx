// Predictions for new rows: a file, or one row that is typed.
import { useMemo, useRef, useState } from "preact/hooks";

import { address, datasetRow, finished, get, inputsOf, post, runs as allRuns } from "../lib/api";
import { brief, percent, plural } from "../lib/format";
import { useLoad } from "../lib/hooks";
import { link, replace, type Route } from "../lib/router";
import { changes, complain, useStore } from "../lib/store";
import type { Dataset, Inputs, Prediction, RunDetail, Work } from "../lib/types";
import { Card, Empty, Failure, LinkButton, Notes, PageHead, Tiles, Waiting } from "../ui/basic";
import { Drop } from "../ui/drop";
import { Grid } from "../ui/table";
import { ExplanationCard, towardsOf } from "./results/explain";

export function Predict({ route }: { route: Route }) {
  const version = useStore(changes);
  const runs = useLoad((signal) => allRuns({ sort: "-modified", state: "done", kind: "search" }, 1000, signal), [version]);
  const id = route.query.get("run") ?? "";
  const usable = runs.value?.runs ?? [];
  if (runs.error) return <Failure error={runs.error} again={runs.again} />;
  if (!runs.value) return <Waiting />;
  if (usable.length === 0)
    return (
      <>
        <PageHead title="Predict" />
        <Empty title="A model is needed first: the result of a search.">
          <LinkButton kind="main" href={link("design")}>
            Design a search
          </LinkButton>
        </Empty>
      </>
    );
  return (
    <>
      <PageHead title="Predict" about="Apply a model to new rows, and see what decides each prediction." />
      <Card title="Model">
        <div class="controls">
          <select aria-label="Model" value={id} onChange={(event) => replace(link("predict", "", { run: event.currentTarget.value }))}>
            <option value="" disabled>
              choose a run
            </option>
            {usable.map((run) => (
              <option key={run.id} value={run.id}>
                {run.path}
                {run.model ? ` · ${run.model}` : ""}
              </option>
            ))}
          </select>
          {id && <a href={link("runs", id)}>Its results</a>}
        </div>
      </Card>
      {id && <WithModel key={id} id={id} />}
    </>
  );
}

function WithModel({ id }: { id: string }) {
  const [result, set] = useState<{ prediction: Prediction; typed: boolean; rowCount: number } | null>(null);
  const [busy, setBusy] = useState(false);
  const run = useLoad((signal) => get<RunDetail>(`runs/${id}`, {}, signal), [id]);
  const inputs = useLoad((signal) => inputsOf(id, signal), [id]);
  const version = useStore(changes);
  const datasets = useLoad((signal) => get<{ datasets: Dataset[] }>("datasets", {}, signal), [version]);
  const latest = useRef(0);
  const predict = async (body: object, typed: boolean) => {
    const turn = ++latest.current;
    setBusy(true);
    try {
      const first = await post<Prediction>("predict", { run: id, explain: true, ...body });
      const done = first.state === "running" ? await finished<Prediction>(() => get<Work<Prediction> & Prediction>(`predictions/${first.id}`, { from: 0, count: 500 })) : first;
      if (turn !== latest.current) return;
      if (done.state === "failed") throw new Error(done.message ?? "The rows can't be predicted.");
      set({ prediction: done, typed, rowCount: done.total_rows });
    } catch (error) {
      complain(error);
    }
    if (turn === latest.current) setBusy(false);
  };
  /** Of very wide models the form has some columns; the others are those of the example. */
  const predictTyped = async (columns: string[], row: string[]) => {
    if (run.value?.dataset && inputs.value && inputs.value.total_columns > inputs.value.columns.length) {
      setBusy(true);
      const typed = new Map(columns.map((name, k) => [name, row[k]]));
      const whole = await datasetRow(run.value.dataset, 0);
      const keep = whole.names.map((name, k) => [name, typed.get(name) ?? whole.values[k] ?? ""] as const).filter(([name]) => name !== inputs.value!.label);
      columns = keep.map(([name]) => name);
      row = keep.map(([, value]) => value);
    }
    await predict({ columns, rows: [row] }, true);
  };
  const error = inputs.error ?? run.error;
  if (error) return <Failure error={error} again={inputs.again} />;
  if (!inputs.value) return <Waiting what="Reading the model" />;
  const tables = (datasets.value?.datasets ?? []).filter(({ kind }) => kind === "table");
  return (
    <>
      <div class="cards">
        <Card title="A file of rows" about="Columns are found by name, in any order; missing values are filled in as learnt in training.">
          <Drop title="Drop new rows here" onDataset={(dataset) => void predict({ dataset: dataset.id }, false)} />
          {tables.length > 0 && (
            <div class="controls file-choice">
              <label class="inline-field">
                <span>or a file of the folder</span>
                <select value="" onChange={(event) => void predict({ dataset: event.currentTarget.value }, false)}>
                  <option value="">choose</option>
                  {tables.map((dataset) => (
                    <option key={dataset.id} value={dataset.id}>
                      {dataset.path}
                    </option>
                  ))}
                </select>
              </label>
            </div>
          )}
        </Card>
        <TypedRow inputs={inputs.value} busy={busy} onPredict={(columns, row) => void predictTyped(columns, row).catch((failure) => (complain(failure), setBusy(false)))} />
      </div>
      {busy && <Waiting what="Predicting" />}
      {result && !busy && <Outcome key={result.prediction.id} {...result} />}
    </>
  );
}

const mostInputs = 60;

function TypedRow(props: { inputs: Inputs; busy: boolean; onPredict: (columns: string[], row: string[]) => void }) {
  const { inputs } = props;
  const [values, set] = useState<string[]>(() => inputs.columns.map(({ example }) => example));
  const [query, setQuery] = useState("");
  const shown = useMemo(
    () => inputs.columns.map((column, k) => ({ column, k })).filter(({ column }) => column.name.toLowerCase().includes(query.toLowerCase())),
    [inputs, query],
  );
  const change = (k: number, value: string) => set(values.map((old, other) => (other === k ? value : old)));
  return (
    <Card
      title="One row, typed"
      about={`${inputs.rows.length > 0 ? "It begins as the first row of the training data. " : ""}${plural(inputs.total_columns, "column")}, those that the model reads.`}
      actions={inputs.columns.length > 12 && <input class="search" type="search" aria-label="Find columns" placeholder="Find columns" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          props.onPredict(inputs.columns.map(({ name }) => name), values);
        }}
      >
        <div class="fields typed">
          {shown.slice(0, mostInputs).map(({ column, k }) => (
            <div class="field" key={k}>
              <label for={`input-${k}`}>{column.name}</label>
              {column.kind === "nominal" && column.levels.length > 0 ? (
                <select id={`input-${k}`} value={values[k]} onChange={(event) => change(k, event.currentTarget.value)}>
                  <option value="">missing</option>
                  {column.levels.map((level) => (
                    <option key={level} value={level}>
                      {level}
                    </option>
                  ))}
                </select>
              ) : (
                <input id={`input-${k}`} autocomplete="off" value={values[k]} placeholder="missing" inputMode={column.kind === "number" ? "decimal" : "text"} onInput={(event) => change(k, event.currentTarget.value)} />
              )}
            </div>
          ))}
        </div>
        {shown.length > mostInputs && <p class="soft">{plural(shown.length - mostInputs, "more column")}; find them by name. They keep the values of the example.</p>}
        <div class="actions form-end">
          <button type="submit" class="button main" disabled={props.busy}>
            Predict this row
          </button>
        </div>
      </form>
    </Card>
  );
}

const cellText = (value: string | number | null | undefined): string => (value == null ? "" : typeof value === "number" ? brief(value) : value);

function Outcome({ prediction, typed }: { prediction: Prediction; typed: boolean }) {
  const [picked, setPicked] = useState(0);
  const pages = useRef(new Map<number, Prediction | null>([[0, prediction]]));
  const [, redraw] = useState(0);
  const block = Math.max(1, prediction.rows.length);
  const load = (from: number, count: number) => {
    for (let b = Math.floor(from / block); b <= Math.floor((from + count) / block); ++b) {
      if (pages.current.has(b) || b * block >= prediction.total_rows) continue;
      pages.current.set(b, null);
      get<Prediction>(`predictions/${prediction.id}`, { from: b * block, count: block }).then(
        (answer) => {
          pages.current.set(b, answer);
          redraw((old) => old + 1);
        },
        (error) => {
          pages.current.delete(b);
          complain(error);
        },
      );
    }
  };
  const at = (row: number) => pages.current.get(Math.floor(row / block));
  const explanation = at(picked)?.explanations?.[picked % block];
  const scores = Object.entries(prediction.scores ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  const first = prediction.rows[0];
  const probabilities = prediction.columns.map((name, k) => ({ name, k })).filter(({ name }) => name.startsWith("probability"));
  return (
    <section aria-label="Predictions" class="outcome">
      {(prediction.warnings?.length ?? 0) + (prediction.notes?.length ?? 0) > 0 && (
        <Card title="Notes">
          <Notes list={[...(prediction.warnings ?? []).map((text) => ({ text, warning: true })), ...(prediction.notes ?? []).map((text) => ({ text }))]} />
        </Card>
      )}
      <div class="cards">
        {typed && first ? (
          <Card title="Prediction">
            <p class="answer" role="status">
              {cellText(first[Math.max(0, prediction.columns.indexOf("prediction"))])}
            </p>
            <Tiles list={prediction.columns.map((name, k) => ({ name, k })).filter(({ name, k }) => name !== "prediction" && !(name === "decision" && first[k] === first[prediction.columns.indexOf("prediction")])).map(({ name, k }) => ({ label: name, value: name.startsWith("probability") && typeof first[k] === "number" ? percent(first[k]) : cellText(first[k]) }))} />
          </Card>
        ) : (
          <Card
            title="Predictions"
            about={`${plural(prediction.total_rows, "row")}. Click on a row for what decides it.`}
            wide={probabilities.length > 4}
            actions={
              <LinkButton small download href={address(`predictions/${prediction.id}/file`)}>
                Download as CSV
              </LinkButton>
            }
          >
            {scores.length > 0 && (
              <>
                <h3>The file has the truth too</h3>
                <Tiles list={scores.slice(0, 8).map(([name, value]) => ({ label: name.replace(/_/g, " "), value: brief(value) }))} />
              </>
            )}
            <Grid
              rows={prediction.total_rows}
              columns={prediction.columns.map((title, k) => ({ title, width: Math.max(120, 30 + 8 * title.length), ...(typeof first?.[k] === "number" ? { kind: "number" } : {}) }))}
              label="Predictions"
              cell={(row, k) => {
                const page = at(row);
                return page ? cellText(page.rows[row % block]?.[k]) : undefined;
              }}
              onView={load}
              onPick={setPicked}
              picked={picked}
            />
          </Card>
        )}
        {explanation && <ExplanationCard list={explanation} title={typed ? "What decides it" : `Row ${picked + 1}: what decides it`} towards={towardsOf(prediction.columns)} />}
      </div>
    </section>
  );
}
