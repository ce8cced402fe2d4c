// Results of rescoring: accepted matches over the q-value, scores of iterations, weights, and the matches.
import { useMemo } from "preact/hooks";

import { barsHeight, drawBars, type Bar } from "../../charts/bars";
import { drawLines } from "../../charts/curves";
import { Picture } from "../../charts/picture";
import { linear } from "../../charts/scale";
import { table } from "../../lib/api";
import { general, grouped, percent } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import { link, replace, type Route } from "../../lib/router";
import type { RescoreResults, RunDetail, TablePage } from "../../lib/types";
import { Card, Failure, Notes, Tabs, Tiles, Waiting } from "../../ui/basic";
import { FilesView } from "./files";
import { TableFile } from "./plain";

const tabs = [
  { name: "overview", title: "In short" },
  { name: "psms.tsv", title: "PSMs" },
  { name: "peptides.tsv", title: "Peptides" },
  { name: "proteins.tsv", title: "Proteins" },
  { name: "files", title: "Files and report" },
];

export function Rescored({ run, results, route }: { run: RunDetail; results: RescoreResults; route: Route }) {
  const tab = route.query.get("tab") ?? "overview";
  const shown = tabs.filter(({ name }) => !name.includes(".") || run.files.some((file) => file.name === name));
  return (
    <Tabs label="Results" tabs={shown} value={tab} onChange={(name) => replace(link("runs", run.id, { tab: name }))}>
      {tab === "overview" && <Overview run={run} results={results} />}
      {tab.includes(".") && <TableFile key={tab} run={run} name={tab} title={shown.find(({ name }) => name === tab)?.title ?? tab} />}
      {tab === "files" && <FilesView run={run} />}
    </Tabs>
  );
}

function Overview({ run, results }: { run: RunDetail; results: RescoreResults }) {
  const loaded = useLoad(
    async (signal) => {
      const has = (name: string) => run.files.some((file) => file.name === name);
      const read = (name: string) => (has(name) ? table(run.id, name, 200_000, signal) : Promise.resolve(null));
      return { psms: await read("psms.tsv"), peptides: await read("peptides.tsv") };
    },
    [run.id, run.modified],
  );
  const gain = results.initial_accepted > 0 ? results.trained_accepted / results.initial_accepted - 1 : null;
  const fdr = Number(results.options["fdr"] ?? 0.01);
  return (
    <>
      <Tiles
        list={[
          { value: grouped(results.psms.accepted), label: `PSMs accepted at q ≤ ${general(fdr)}`, main: true },
          { value: grouped(results.peptides.accepted), label: "peptides accepted", main: true },
          { value: grouped(results.initial_accepted), label: "PSMs by the best single feature" },
          ...(gain == null ? [] : [{ value: `${gain >= 0 ? "+" : ""}${percent(gain)}`, label: "gained by learning" }]),
          { value: grouped(results.psms.targets), label: "targets" },
          { value: grouped(results.psms.decoys), label: "decoys" },
          { value: results.search, label: "search of targets and decoys" },
          { value: results.confidence, label: "confidence by" },
        ]}
      />
      <div class="cards">
        {results.warnings.length > 0 && (
          <Card title="Notes" wide>
            <Notes list={results.warnings.map((text) => ({ text, warning: true }))} />
          </Card>
        )}
        {loaded.error && <Failure error={loaded.error} again={loaded.again} />}
        {!loaded.value && !loaded.error && <Waiting />}
        {loaded.value && <Accepted {...loaded.value} fdr={fdr} />}
        {loaded.value && <Calibration {...loaded.value} />}
        <Iterations results={results} />
        <Weights results={results} />
      </div>
    </>
  );
}

const mostQ = 0.1;
const steps = 200;

/** Targets up to each q-value, and their mean posterior error probability. */
function totals(page: TablePage | null): { count: number[]; pep: number[] } | null {
  if (!page) return null;
  const q = page.columns.findIndex((name) => name === "q-value" || name === "mokapot q-value");
  const p = page.columns.findIndex((name) => /posterior_error_prob|PEP/i.test(name));
  const rows = page.rows.map((row) => [Number(row[q]), Number(row[p])] as const).sort((a, b) => a[0] - b[0]);
  const count: number[] = [];
  const pep: number[] = [];
  let k = 0;
  let sum = 0;
  for (let step = 0; step <= steps; ++step) {
    for (; k < rows.length && rows[k]![0] <= (mostQ * step) / steps; ++k) sum += rows[k]![1] || 0;
    count.push(k);
    pep.push(k > 0 ? sum / k : 0);
  }
  return { count, pep };
}

const qs = Array.from({ length: steps + 1 }, (_, step) => (mostQ * step) / steps);
const legend = [
  { colour: 0, text: "PSMs" },
  { colour: 1, text: "peptides" },
];

function useSeries(pages: { psms: TablePage | null; peptides: TablePage | null }, of: "count" | "pep") {
  return useMemo(
    () =>
      (["psms", "peptides"] as const).flatMap((name, colour) => {
        const found = totals(pages[name]);
        return found ? [{ name: legend[colour]!.text, colour, points: qs.map((q, k) => [q, found[of][k]!] as const) }] : [];
      }),
    [pages.psms, pages.peptides],
  );
}

function Accepted(props: { psms: TablePage | null; peptides: TablePage | null; fdr: number }) {
  const series = useSeries(props, "count");
  if (series.length === 0) return null;
  return (
    <Picture
      title="Accepted targets over the q-value"
      about="How many matches are accepted if this share of errors is tolerated."
      height={320}
      legend={legend.slice(0, series.length)}
      draw={(pen) => drawLines(pen, { x: "q-value", y: "accepted targets", series, vertical: { x: props.fdr, text: `q = ${general(props.fdr)}` }, yAxis: (b, t) => linear(0, Math.max(1, ...series.flatMap((s) => s.points.map(([, y]) => y))) * 1.05, b, t) })}
      data={() => ({ columns: ["q-value", ...series.map(({ name }) => `accepted ${name}`)], rows: qs.map((q, k) => [q, ...series.map(({ points }) => points[k]![1])]) })}
      keys={[series]}
    />
  );
}

function Calibration(props: { psms: TablePage | null; peptides: TablePage | null }) {
  const series = useSeries(props, "pep");
  if (series.length === 0) return null;
  return (
    <Picture
      title="Do error probabilities agree with q-values?"
      about="Mean posterior error probability of the accepted matches; on the dashed line both say the same."
      height={320}
      legend={legend.slice(0, series.length)}
      draw={(pen) => drawLines(pen, { x: "q-value", y: "mean PEP", series, diagonal: true, xAxis: (a, b) => linear(0, mostQ, a, b), yAxis: (b, t) => linear(0, mostQ, b, t) })}
      data={() => ({ columns: ["q-value", ...series.map(({ name }) => `mean PEP of ${name}`)], rows: qs.map((q, k) => [q, ...series.map(({ points }) => points[k]![1])]) })}
      keys={[series]}
    />
  );
}

function Iterations({ results }: { results: RescoreResults }) {
  const list = results.iterations.map(({ tested }) => tested);
  if (list.length < 2) return null;
  return (
    <Picture
      title="Accepted PSMs by iteration"
      about="Counts are those of the test folds. The first is the best single feature."
      height={280}
      draw={(pen) => drawLines(pen, { x: "iteration", y: "accepted PSMs", dots: true, series: [{ name: "PSMs", colour: 0, points: [[0, results.initial_accepted] as const, ...list.map((value, k) => [k + 1, value] as const)] }] })}
      data={() => ({ columns: ["iteration", "accepted"], rows: [results.initial_accepted, ...list].map((value, k) => [k, value]) })}
      keys={[results]}
    />
  );
}

/** The mean over the folds. */
function foldMeans(folds: number[][], features: string[]): number[] | null {
  if (folds.length === 0 || folds.some((fold) => fold.length < features.length)) return null;
  return features.map((_, j) => folds.reduce((sum, fold) => sum + fold[j]!, 0) / folds.length);
}

function Weights({ results }: { results: RescoreResults }) {
  const weights = foldMeans(results.normalised_weights, results.features);
  if (!weights) return null;
  const bars = results.features
    .map((name, j): Bar => ({ name, value: weights[j]!, label: general(weights[j]!, 3), colour: weights[j]! >= 0 ? 0 : 1 }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, 20);
  return (
    <Picture
      title="Weights of the features"
      about="Mean of the three folds, for features of standard deviation 1. To the right: larger values speak for a correct match."
      height={barsHeight(bars.length)}
      draw={(pen) => drawBars(pen, bars, "weight")}
      data={() => ({ columns: ["feature", "weight"], rows: results.features.map((name, j) => [name, weights[j]]) })}
      keys={[results]}
    />
  );
}
