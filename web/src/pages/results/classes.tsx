// Classes: ROC, precision and recall, the confusion matrix, and the threshold that moves it and the costs.
import { useMemo, useState } from "preact/hooks";

import { confusionHeight, costCurve, drawConfusion, ratesAt, type Rates, type Scored } from "../../charts/confusion";
import { drawLines, drawUnitCurves, unitCurve } from "../../charts/curves";
import { Picture } from "../../charts/picture";
import { table } from "../../lib/api";
import { general, grouped, percent, plural, score, spread, type Summary } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import type { Results, RunDetail, TablePage } from "../../lib/types";
import { Button, Card, Check, Empty, Failure, Tiles, Waiting } from "../../ui/basic";
import { Table } from "../../ui/table";
import { outerSummary, type ResultsProps } from "./view";

/** A CSV file of the run, or null if there is none. */
export function useTable(run: RunDetail, name: string) {
  const there = run.files.some((file) => file.name === name);
  return useLoad<TablePage | null>((signal) => (there ? table(run.id, name, 200_000, signal) : Promise.resolve(null)), [run.id, name, there, run.modified]);
}

export function ClassCards(props: ResultsProps) {
  const curves = useTable(props.run, "curves.csv");
  const confusion = useTable(props.run, "confusion.csv");
  const predictions = useTable(props.run, "predictions.csv");
  const error = curves.error ?? confusion.error ?? predictions.error;
  if (error) return <Failure error={error} />;
  if (curves.value === undefined || confusion.value === undefined || predictions.value === undefined) return <Waiting />;
  const two = props.results.classes.length === 2;
  const rows = two ? scoredRows(props.results, predictions.value) : null;
  if (!curves.value && !confusion.value && !rows) return <Empty title="This run kept no curves." />;
  return (
    <div class="cards">
      {rows && <ThresholdCards rows={rows} results={props.results} />}
      {curves.value && two && <UnitCurves {...props} page={curves.value} />}
      {confusion.value && <Confusion results={props.results} page={confusion.value} />}
      {two && !rows && (
        <Card
          title="Threshold"
          about="Predictions for held-out rows are needed to see what another threshold would change. Choose “predictions” in the design and search again; finished work is used again."
        />
      )}
    </div>
  );
}

/** Split by split the points of one kind of curve. */
function curvesOf(page: TablePage, kind: string): Map<number, { x: number[]; y: number[] }> {
  const [name, split, x, y] = ["curve", "split", "x", "y"].map((column) => page.columns.indexOf(column)) as [number, number, number, number];
  const result = new Map<number, { x: number[]; y: number[] }>();
  for (const row of page.rows) {
    if (row[name] !== kind) continue;
    const curve = result.get(Number(row[split])) ?? { x: [], y: [] };
    result.set(Number(row[split]), curve);
    curve.x.push(Number(row[x]));
    curve.y.push(Number(row[y] ?? NaN));
  }
  return result;
}

function UnitCurves({ results, page }: ResultsProps & { page: TablePage }) {
  const [folds, setFolds] = useState(false);
  const roc = useMemo(() => unitCurve("", 0, curvesOf(page, "roc")), [page]);
  const precision = useMemo(() => unitCurve("", 0, curvesOf(page, "precision-recall")), [page]);
  const positive = results.positive_class ?? results.classes[1]!;
  const summary = (name: string) => spread((results.outer?.[name] ?? results.chosen?.[name]) as Summary | undefined);
  const about = `Mean over the ${outerSummary(results) ? "outer folds" : "splits"}, with one standard deviation to each side.`;
  const data = (curve: typeof roc, x: string, y: string) => () => ({
    columns: [x, y, "standard deviation"],
    rows: curve.x.map((value, k) => [value, curve.mean[k], curve.deviation[k]]),
  });
  const controls = <Check label="single folds" checked={folds} onChange={setFolds} />;
  return (
    <>
      {roc.x.length > 0 && (
        <Picture
          title="ROC curve"
          about={`${about} AUC ${summary("auc")}.`}
          height={360}
          draw={(pen) => drawUnitCurves(pen, { x: `share of the others taken for ${positive}`, y: `share of ${positive} found`, curves: [roc], diagonal: true, fromOrigin: true, folds })}
          data={data(roc, "false positive rate", "true positive rate")}
          keys={[roc, folds]}
          controls={controls}
        />
      )}
      {precision.x.length > 0 && (
        <Picture
          title="Precision and recall"
          about={`${about} Average precision ${summary("average-precision")}.`}
          height={360}
          draw={(pen) => drawUnitCurves(pen, { x: `share of ${positive} found (recall)`, y: "precision", curves: [precision], diagonal: false, fromOrigin: false, folds })}
          data={data(precision, "recall", "precision")}
          keys={[precision, folds]}
          controls={controls}
        />
      )}
    </>
  );
}

function Confusion({ results, page }: { results: Results; page: TablePage }) {
  const [truth, prediction, count] = ["truth", "prediction", "rows"].map((column) => page.columns.indexOf(column)) as [number, number, number];
  const n = results.classes.length;
  const counts = useMemo(() => {
    const sums: number[] = new Array(n * n).fill(0);
    const index = new Map(results.classes.map((name, k) => [name, k]));
    for (const row of page.rows) {
      const t = index.get(String(row[truth]));
      const p = index.get(String(row[prediction]));
      if (t !== undefined && p !== undefined) sums[t * n + p]! += Number(row[count]);
    }
    return sums;
  }, [page]);
  const rates = results.classes.map((name, t) => {
    const own = counts.slice(t * n, (t + 1) * n).reduce((a, b) => a + b, 0);
    const predicted = results.classes.reduce((sum, _, k) => sum + counts[k * n + t]!, 0);
    const right = counts[t * n + t]!;
    return { name, rows: own, recall: own > 0 ? right / own : null, precision: predicted > 0 ? right / predicted : null, f1: own + predicted > 0 ? (2 * right) / (own + predicted) : null };
  });
  return (
    <>
      <Picture
        title="Confusion matrix"
        about="Held-out rows of the chosen models, all splits together; shades and shares are of each true class."
        wide={n > 12}
        height={(width) => confusionHeight(n, width)}
        draw={(pen) => drawConfusion(pen, results.classes, counts)}
        data={() => ({ columns: ["truth", "prediction", "rows"], rows: counts.map((value, k) => [results.classes[Math.floor(k / n)], results.classes[k % n], value]) })}
        keys={[counts]}
      />
      <Card title="Each class" about="On held-out rows; those that are found least come first.">
        <Table
          label="Classes"
          rows={rates}
          id={(row) => row.name}
          order={{ name: "recall", down: false }}
          columns={[
            { name: "name", title: "class", key: (row) => row.name, cell: (row) => row.name },
            { name: "rows", title: "rows", right: true, key: (row) => row.rows, cell: (row) => grouped(row.rows) },
            { name: "recall", title: "recall", right: true, key: (row) => row.recall, cell: (row) => score(row.recall) },
            { name: "precision", title: "precision", right: true, key: (row) => row.precision, cell: (row) => score(row.precision) },
            { name: "f1", title: "F1", right: true, key: (row) => row.f1, cell: (row) => score(row.f1) },
          ]}
        />
      </Card>
    </>
  );
}

interface ScoredRows {
  rows: Scored[];
  /** What is compared with the threshold. */
  name: string;
  probability: boolean;
  positive: string;
  negative: string;
}

function scoredRows(results: Results, page: TablePage | null): ScoredRows | null {
  if (!page) return null;
  const positive = results.positive_class ?? results.classes[1]!;
  const negative = results.classes.find((name) => name !== positive)!;
  const truth = page.columns.indexOf("truth");
  const probability = page.columns.indexOf(`probability of ${positive}`);
  const decision = page.columns.findIndex((name) => name.startsWith("decision for "));
  const column = probability >= 0 ? probability : decision;
  if (truth < 0 || column < 0) return null;
  const sign = probability >= 0 || page.columns[decision] === `decision for ${positive}` ? 1 : -1;
  return {
    rows: page.rows.filter((row) => row[column] != null).map((row) => ({ score: sign * Number(row[column]), positive: String(row[truth]) === positive })),
    name: probability >= 0 ? `probability of ${positive}` : "decision value",
    probability: probability >= 0,
    positive,
    negative,
  };
}

function ThresholdCards({ rows: found, results }: { rows: ScoredRows; results: Results }) {
  const { rows, positive, negative, name } = found;
  const sorted = useMemo(() => [...new Set(rows.map((row) => row.score))].sort((a, b) => a - b), [rows]);
  const usual = found.probability ? 0.5 : 0;
  const [threshold, set] = useState(usual);
  const [fp, setFp] = useState(1);
  const [fn, setFn] = useState(1);
  const rates = useMemo(() => ratesAt(rows, threshold), [rows, threshold]);
  const costs = useMemo(() => costCurve(rows, fp, fn), [rows, fp, fn]);
  // The slider moves through the rows, so that each step changes something.
  const place = sorted.findIndex((value) => value >= threshold);
  const order = results.classes;
  const counts = order.flatMap((truth) =>
    order.map((prediction) => (truth === positive ? (prediction === positive ? rates.tp : rates.fn) : prediction === positive ? rates.fp : rates.tn)),
  );
  const cost = rates.fp * fp + rates.fn * fn;
  const number = (value: string) => Math.max(0, Number(value.replace(",", ".")) || 0);
  return (
    <>
      <Card title="Threshold" about={`${positive} is predicted if its ${name} is at least the threshold. Move it and see what changes, on ${plural(rows.length, "held-out row")}.`}>
        <div class="field">
          <label for="threshold">
            Threshold: <span class="num">{general(threshold, 4)}</span>
          </label>
          <input
            id="threshold"
            type="range"
            min={0}
            max={Math.max(1, sorted.length - 1)}
            step={1}
            value={place < 0 ? sorted.length - 1 : place}
            aria-valuetext={`${general(threshold, 4)}: ${rates.tp} of ${rates.tp + rates.fn} ${positive} found, ${rates.fp} false alarms`}
            onInput={(event) => set(sorted[Number(event.currentTarget.value)] ?? usual)}
          />
        </div>
        <Tiles list={ratesTiles(rates, positive, negative)} />
        <h3>What errors cost</h3>
        <div class="controls">
          <label class="inline-field">
            <span>{negative} taken for {positive}</span>
            <input type="text" inputMode="decimal" size={5} defaultValue="1" onInput={(event) => setFp(number(event.currentTarget.value))} />
          </label>
          <label class="inline-field">
            <span>{positive} taken for {negative}</span>
            <input type="text" inputMode="decimal" size={5} defaultValue="1" onInput={(event) => setFn(number(event.currentTarget.value))} />
          </label>
          <span class="num">
            total cost <b>{general(cost, 6)}</b>
          </span>
          <Button small onClick={() => set(costs.thresholds[costs.best]!)}>
            Cheapest: {general(costs.costs[costs.best]!, 6)}
          </Button>
          <Button small onClick={() => set(usual)}>
            Back to {usual}
          </Button>
        </div>
        <p class="about">A threshold that is chosen here looks a little too good on these rows. The setting “threshold” of a search chooses it without the rows that score it.</p>
      </Card>
      <div class="stack">
      <Picture
        title="Confusion matrix at this threshold"
        height={(width) => confusionHeight(2, width)}
        draw={(pen) => drawConfusion(pen, order, counts)}
        data={() => ({ columns: ["truth", "prediction", "rows"], rows: counts.map((value, k) => [order[Math.floor(k / 2)], order[k % 2], value]) })}
        keys={[counts.join()]}
      />
      <Picture
        title="Cost over the threshold"
        about="Of all held-out rows together."
        height={240}
        draw={(pen) =>
          drawLines(pen, {
            x: name,
            y: "total cost",
            series: [{ name: "cost", colour: 0, points: costs.thresholds.map((value, k) => [value, costs.costs[k]!] as const) }],
            vertical: { x: threshold, text: "threshold" },
          })
        }
        data={() => ({ columns: ["threshold", "cost"], rows: costs.thresholds.map((value, k) => [value, costs.costs[k]]) })}
        keys={[costs, threshold]}
      />
      </div>
    </>
  );
}

function ratesTiles(rates: Rates, positive: string, negative: string) {
  const share = (part: number, whole: number) => (whole > 0 ? percent(part / whole) : "-");
  return [
    { value: share(rates.tp, rates.tp + rates.fn), label: `of ${positive} found (sensitivity)` },
    { value: share(rates.tn, rates.tn + rates.fp), label: `of ${negative} left alone (specificity)` },
    { value: share(rates.tp, rates.tp + rates.fp), label: `of those predicted ${positive} are (precision)` },
    { value: share(rates.tp + rates.tn, rates.tp + rates.tn + rates.fp + rates.fn), label: "right (accuracy)" },
  ];
}
