// Features: weights, permutation importance, how often resamples chose them, paths of weights.
import { useMemo, useState } from "preact/hooks";

import { barsHeight, drawBars, type Bar } from "../../charts/bars";
import { drawLines, type Series } from "../../charts/curves";
import { Picture } from "../../charts/picture";
import { parameterAxis } from "../../charts/scale";
import { axisTitle, brief, general, percent, plural, scoreTitle, settingText, type Summary } from "../../lib/format";
import { pointText, wilson } from "../../lib/points";
import type { Results, RunDetail, StableFeature } from "../../lib/types";
import { Card, Empty, Select } from "../../ui/basic";
import { Grid, Table, type Column } from "../../ui/table";
import { useTable } from "./classes";
import type { ResultsProps } from "./view";

const mostBars = 20;

export function FeatureCards({ run, results }: ResultsProps) {
  const there = results.largest_weights || results.importance || results.stability || run.files.some(({ name }) => name === "coefficients.csv");
  if (!there) return <Empty title="This model has no weights. A search with permutation importance reports which features matter for it." />;
  return (
    <div class="cards">
      <Frequencies results={results} />
      <Paths results={results} />
      <Importance results={results} />
      <Weights results={results} />
      <StabilityTable results={results} />
      <Coefficients run={run} />
    </div>
  );
}

function Weights({ results }: { results: Results }) {
  const columns = results.largest_weights ?? [];
  const [chosen, setChosen] = useState(0);
  const shown = columns[chosen];
  if (!shown || shown.weights.length === 0) return null;
  const two = results.classes.length === 2;
  const forClass = shown.class ?? (two ? results.positive_decisions_speak_for : null);
  const towards = results.classes.length > 0 ? `speaks for ${forClass ?? "the class"}` : "goes with larger values";
  const bars: Bar[] = shown.weights.slice(0, mostBars).map(({ name, weight }) => ({ name, value: weight, label: general(weight, 4), colour: weight >= 0 ? 0 : 1 }));
  return (
    <Picture
      title="The largest weights"
      about="Of the model trained on all rows."
      height={barsHeight(bars.length)}
      legend={[
        { colour: 0, text: towards },
        { colour: 1, text: "against it" },
      ]}
      draw={(pen) => drawBars(pen, bars, "weight")}
      data={() => ({ columns: ["position", "feature", "weight"], rows: shown.weights.map(({ position, name, weight }) => [position, name, weight]) })}
      keys={[shown]}
      controls={columns.length > 1 && <Select label="class" value={String(chosen)} onChange={(value) => setChosen(Number(value))} options={columns.map((column, k) => ({ value: String(k), text: column.class ?? String(k + 1) }))} />}
    />
  );
}

function Importance({ results }: { results: Results }) {
  const list = results.importance;
  if (!list?.length) return null;
  const bars = list.slice(0, mostBars).map((feature): Bar => {
    const mean = feature.mean ?? 0;
    const deviation = feature.standard_deviation ?? 0;
    return { name: feature.name, value: mean, label: `${general(mean, 3)} ± ${general(deviation, 2)}`, low: mean - deviation, high: mean + deviation };
  });
  return (
    <Picture
      title="Permutation importance"
      about={`By how much ${scoreTitle(results.score)} gets worse if a feature is shuffled among held-out rows; lines: one standard deviation over the splits. Features that say the same share their importance.`}
      height={barsHeight(bars.length)}
      draw={(pen) => drawBars(pen, bars, `loss of ${scoreTitle(results.score)}`)}
      data={() => ({ columns: ["feature", "importance", "standard deviation"], rows: list.map((feature) => [feature.name, feature.mean, (feature as Summary).standard_deviation]) })}
      keys={[list]}
    />
  );
}

const firstNumber = (value: StableFeature["mean_weight"]): number | null => (value == null ? null : typeof value === "number" ? value : (Object.values(value)[0] ?? null));

function Frequencies({ results }: { results: Results }) {
  const stability = results.stability;
  if (!stability?.features.length) return null;
  const resamples = results.outer?.folds.length ?? 0;
  const bars = stability.features.slice(0, 30).map((feature): Bar => {
    const weight = firstNumber(feature.mean_weight) ?? 0;
    const ends = resamples > 1 ? wilson(feature.frequency, resamples) : undefined;
    return { name: feature.name, value: feature.frequency, label: percent(feature.frequency), colour: weight >= 0 ? 0 : 1, low: ends?.[0], high: ends?.[1] };
  });
  const two = results.classes.length === 2;
  return (
    <Picture
      title="How often each feature was chosen"
      about={`The most frequent of ${plural(stability.features.length, "feature")} that some of ${plural(resamples, "resample")} chose; lines: 95 % intervals. Dashed: from here on a feature counts as selected.${
        stability.value == null ? "" : ` Stability of the whole choice: ${stability.value.toFixed(3)}${stability.by_chance ? ` (by chance ${stability.by_chance.mean.toFixed(3)})` : ""}.`
      }`}
      height={barsHeight(bars.length)}
      legend={[
        { colour: 0, text: two ? `speaks for ${results.positive_decisions_speak_for ?? results.classes[0]}` : "goes with larger values" },
        { colour: 1, text: two ? "speaks against it" : "goes with smaller values" },
      ]}
      draw={(pen) => drawBars(pen, bars, "share of resamples", { value: stability.min_frequency, text: "selected" })}
      data={() => ({ columns: ["feature", "frequency", "mean weight"], rows: stability.features.map((feature) => [feature.name, feature.frequency, firstNumber(feature.mean_weight)]) })}
      keys={[stability]}
    />
  );
}

function StabilityTable({ results }: { results: Results }) {
  const features = results.stability?.features;
  if (!features?.length) return null;
  const columns: Column<StableFeature>[] = [
    { name: "name", title: "feature", key: (f) => f.name, cell: (f) => f.name },
    { name: "frequency", title: "frequency", right: true, key: (f) => f.frequency, cell: (f) => percent(f.frequency) },
    { name: "rank", title: "median rank", right: true, key: (f) => f.median_rank, cell: (f) => general(f.median_rank) },
    { name: "deviation", title: "std. dev.", right: true, key: (f) => f.standard_deviation, cell: (f) => general(f.standard_deviation, 4) },
    { name: "weight", title: "mean weight", right: true, key: (f) => firstNumber(f.mean_weight), cell: (f) => weightText(f.mean_weight) },
    { name: "sign", title: "same sign", right: true, key: (f) => firstNumber(f.sign_agreement), cell: (f) => (typeof f.sign_agreement === "number" ? percent(f.sign_agreement) : "") },
  ];
  return (
    <Card title="Features" about="Mean weight and sign over the resamples that chose a feature; ranks by weight times standard deviation." wide>
      <Table label="Features" rows={features} columns={columns} id={(feature) => String(feature.index)} marked={(feature) => results.stability!.selected.includes(feature.name)} most={100} />
    </Card>
  );
}

function weightText(value: StableFeature["mean_weight"]): string {
  if (value == null) return "-";
  if (typeof value === "number") return general(value, 4);
  return Object.entries(value).map(([name, weight]) => `${name} ${general(weight, 3)}`).join(", ");
}

type PathColumn = NonNullable<Results["path"]>["columns"][number];

/** Weights along the path of alphas; the largest are named. */
function Paths({ results }: { results: Results }) {
  const [shown, setShown] = useState(0);
  const path = results.path;
  const column = path?.columns[shown];
  if (!path || !column || column.features.length === 0 || path.alphas.length < 2) return null;
  const named = column.features.slice(0, 8);
  const series = column.features.map(({ name, effects }, k): Series => ({ name, colour: k < named.length ? k : "faint", points: effects.map((effect, a) => [path.alphas[a]!, effect] as const) }));
  const chosen = Number(path.chosen["alpha"]);
  const settings = pointText(path.chosen, settingText, axisTitle);
  const title = (one: PathColumn, k: number) => one.class ?? String(k + 1);
  return (
    <Picture
      title={path.resample == null ? "Weights along the path to the chosen model" : `Weights along the path of resample ${path.resample}`}
      about={
        path.resample == null
          ? `From the strongest penalty on the right, where no feature has a weight, to the chosen model, ${settings}; on all rows. Of the features with the largest weights there.`
          : `From the strongest penalty on the right, where no feature has a weight, to the weakest. It chose ${settings}; dashed: that alpha. Of features that some resample chose.`
      }
      height={360}
      legend={named.map(({ name }, colour) => ({ colour, text: name }))}
      draw={(pen) =>
        drawLines(pen, {
          x: "alpha (log scale)",
          y: "weight times standard deviation",
          series: [...series].reverse(),
          xAxis: (first, last) => parameterAxis(path.alphas, first, last),
          horizontal: 0,
          ...(path.resample == null ? {} : { vertical: { x: chosen, text: "chosen" } }),
        })
      }
      data={() => ({ columns: ["feature", ...path.alphas.map((alpha) => `alpha ${alpha}`)], rows: column.features.map(({ name, effects }) => [name, ...effects]) })}
      keys={[column]}
      controls={path.columns.length > 1 && <Select label="class" value={String(shown)} onChange={(value) => setShown(Number(value))} options={path.columns.map((one, k) => ({ value: String(k), text: title(one, k) }))} />}
    />
  );
}

function Coefficients({ run }: { run: RunDetail }) {
  const loaded = useTable(run, "coefficients.csv");
  const [query, setQuery] = useState("");
  const page = loaded.value;
  const rows = useMemo(() => (page ? page.rows.filter((row) => String(row[0]).toLowerCase().includes(query.toLowerCase())) : []), [page, query]);
  if (!page || page.rows.length === 0) return null;
  return (
    <Card
      title="All weights"
      about="Standardised: times the standard deviation of the feature, so that weights of features in different units can be compared."
      wide
      actions={<input class="search" type="search" aria-label="Find features" placeholder="Find features" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />}
    >
      <Grid
        rows={rows.length}
        columns={page.columns.map((title, k) => ({ title, width: Math.max(k === 0 ? 220 : 130, 30 + 8 * title.length), ...(k === 0 ? {} : { kind: "number" }) }))}
        label="All weights"
        height={420}
        cell={(row, k) => {
          const value = rows[row]?.[k];
          return value == null ? "" : typeof value === "number" && k > 0 ? brief(value) : String(value);
        }}
      />
    </Card>
  );
}
