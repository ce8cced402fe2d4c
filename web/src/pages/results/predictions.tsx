// Predictions for held-out rows, row by row, and what decides each.
import { useMemo, useState } from "preact/hooks";

import { datasetRow, finished, get, inputsOf, post } from "../../lib/api";
import { brief, grouped } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import type { Prediction, Work } from "../../lib/types";
import { Card, Check, Failure, Waiting } from "../../ui/basic";
import { Grid, sortRows, type Column, type Order } from "../../ui/table";
import { useTable } from "./classes";
import { ExplanationCard, towardsOf } from "./explain";
import type { ResultsProps } from "./view";

type Row = (string | number | null)[];

export function Predictions({ run, results }: ResultsProps) {
  const loaded = useTable(run, "predictions.csv");
  const [order, setOrder] = useState<Order | null>(null);
  const [wrong, setWrong] = useState(false);
  const [picked, setPicked] = useState<Row | null>(null);
  const page = loaded.value;
  const truth = page?.columns.indexOf("truth") ?? -1;
  const prediction = page?.columns.indexOf("prediction") ?? -1;
  const columns = useMemo(
    () =>
      (page?.columns ?? [])
        .map((title, k): Column<Row> => ({ name: title, title, key: (row) => row[k], cell: (row) => (typeof row[k] === "number" ? brief(row[k]) : String(row[k] ?? "")), right: typeof page?.rows[0]?.[k] === "number" }))
        .filter(({ name }) => name !== "row"), // it stands in front
    [page],
  );
  const rows = useMemo(() => {
    const shown = wrong ? page!.rows.filter((row) => row[truth] !== row[prediction]) : (page?.rows ?? []);
    return sortRows(shown, columns, order);
  }, [page, wrong, order, columns]);
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />;
  if (!page) return <Waiting />;
  const place = picked ? rows.indexOf(picked) : null;
  return (
    <div class="cards">
      <Card
        title="Held-out rows"
        about={`Each row was predicted by a model that had not seen it. Click on a row for what decides its prediction.${page.rows.length < page.total_rows ? ` The first ${grouped(page.rows.length)} of ${grouped(page.total_rows)}.` : ""}`}
        wide
        actions={results.classes.length > 0 && <Check label="only wrong ones" checked={wrong} onChange={setWrong} />}
      >
        <Grid
          rows={rows.length}
          columns={columns.map((column) => ({
            title: column.title,
            width: Math.max(110, 30 + 8 * column.title.length),
            ...(column.right ? { kind: "number" } : {}),
            head: (
              <button type="button" class="column-button" aria-label={`Sort by ${column.title}`} onClick={() => setOrder({ name: column.name, down: order?.name === column.name ? !order.down : !!column.right })}>
                {column.title}
                {order?.name === column.name ? (order.down ? " ↓" : " ↑") : ""}
              </button>
            ),
          }))}
          label="Held-out rows"
          cell={(row, k) => String(columns[k]!.cell(rows[row]!))}
          number={(row) => Number(rows[row]![0])}
          onPick={(row) => setPicked(rows[row]!)}
          picked={place}
        />
      </Card>
      {picked && <Explained key={String(picked[0])} run={run} row={Number(picked[0])} prediction={String(picked[prediction] ?? "")} truth={String(picked[truth] ?? "")} />}
    </div>
  );
}

/** Explains a row of the dataset by the final model. */
function Explained(props: { run: ResultsProps["run"]; row: number; prediction: string; truth: string }) {
  const { run, row } = props;
  const loaded = useLoad(
    async (signal) => {
      if (!run.dataset) throw new Error("The dataset of this run is not in the folder, so its rows can't be read.");
      const inputs = await inputsOf(run.id, signal);
      const { names, values } = await datasetRow(run.dataset, row - 1, signal);
      const known = new Set(inputs.columns.map(({ name }) => name));
      const keep = names.map((name, k) => ({ name, k })).filter(({ name }) => inputs.total_columns > inputs.columns.length || known.has(name));
      const asked = await post<Prediction>("predict", { run: run.id, columns: keep.map(({ name }) => name), rows: [keep.map(({ k }) => values[k] ?? "")], explain: true }, signal);
      return asked.state === "running" ? finished<Prediction>(() => get<Work<Prediction> & Prediction>(`predictions/${asked.id}`, { from: 0, count: 1 }, signal), signal) : asked;
    },
    [run.id, row],
  );
  if (loaded.error) return <Failure error={loaded.error} />;
  if (!loaded.value) return <Waiting what={`Explaining row ${row}`} />;
  if (loaded.value.state === "failed") return <Failure error={new Error(loaded.value.message ?? "The row can't be explained.")} />;
  const list = loaded.value.explanations?.[0] ?? [];
  return (
    <>
      <Card title={`Row ${row}`} about={`Held out, it was predicted as ${props.prediction}; the truth is ${props.truth}. The explanation is that of the final model, which was trained on all rows and predicts ${String(loaded.value.rows[0]?.[0] ?? "")}.`} wide />
      <ExplanationCard list={list} title={`Row ${row}: what decides it`} towards={towardsOf(loaded.value.columns)} />
    </>
  );
}
