// All results of a search or a study, the honest figure first.
import { useMemo } from "preact/hooks";

import { axisTitle, grouped, percent, plainNote, plural, score, scoreTitle, settingText, spread, type Summary } from "../../lib/format";
import { direction, pointsOf, pointText, type Value } from "../../lib/points";
import { link, replace, type Route } from "../../lib/router";
import type { Metric, Results, RunDetail } from "../../lib/types";
import { Card, Empty, Notes, Tabs, Tiles } from "../../ui/basic";
import { Table } from "../../ui/table";
import { ClassCards } from "./classes";
import { FeatureCards } from "./features";
import { FilesView } from "./files";
import { FoldScores } from "./folds";
import { Predictions } from "./predictions";
import { PointsCards } from "./scores";
import { ValidationCards } from "./validation";

export interface ResultsProps {
  run: RunDetail;
  results: Results;
  metrics: Metric[];
}

export const outerSummary = (results: Results): Summary | null => (results.outer ? ((results.outer[results.score] as Summary | undefined) ?? null) : null);

const hasFile = (run: RunDetail, name: string) => run.files.some((file) => file.name === name);

export function ResultsView(props: ResultsProps & { route: Route }) {
  const { run, results, metrics, route } = props;
  const study = !!results.stability;
  const tabs = [
    { name: "overview", title: "In short" },
    { name: "points", title: "Settings tried" },
    ...(results.classes.length > 0 ? [{ name: "classes", title: results.classes.length === 2 ? "Classes and threshold" : "Classes" }] : []),
    { name: "features", title: study ? "Features chosen" : "Features" },
    ...(results.outer || results.learning_curve || results.reliability || results.permutation_test ? [{ name: "validation", title: "How sure" }] : []),
    ...(hasFile(run, "predictions.csv") ? [{ name: "predictions", title: "Held-out rows" }] : []),
    { name: "files", title: "Files and report" },
  ];
  const tab = route.query.get("tab") ?? "overview";
  const points = useMemo(() => pointsOf(results), [results]);
  const sign = direction(metrics, results.score);
  return (
    <Tabs label="Results" tabs={tabs} value={tab} onChange={(name) => replace(link("runs", run.id, { tab: name }))}>
      {tab === "overview" && <Overview {...props} />}
      {tab === "points" &&
        (points.list.length > 0 ? (
          <div class="cards">
            <PointsCards points={points} metric={results.score} sign={sign} chosen={(study ? results.stability!.best : results.chosen) as Record<string, unknown>} />
          </div>
        ) : (
          <Empty title="No points were tried." />
        ))}
      {tab === "classes" && <ClassCards {...props} />}
      {tab === "features" && <FeatureCards {...props} />}
      {tab === "validation" && <ValidationCards {...props} />}
      {tab === "predictions" && <Predictions {...props} />}
      {tab === "files" && <FilesView run={run} />}
    </Tabs>
  );
}

const chosenText = (results: Results): string => {
  const chosen = results.chosen;
  if (!chosen) return "";
  return pointText(chosen.best as Record<string, Value>, settingText, axisTitle) === ""
    ? ""
    : pointText(
        Object.fromEntries(Object.keys({ ...chosen.best, ...chosen }).filter((key) => key !== "best" && key !== "support_vectors" && typeof chosen[key] !== "object").map((key) => [key, chosen[key] as Value])),
        settingText,
        axisTitle,
      );
};

function tilesOf(results: Results, metrics: Metric[]) {
  const list: { value: string; label: string; main?: boolean }[] = [];
  const outer = outerSummary(results);
  const chosen = results.chosen?.[results.score] as Summary | undefined;
  if (outer) list.push({ value: spread(outer), label: `${scoreTitle(results.score)}, ${results.stability ? "held-out rows" : "nested estimate: what to expect on new rows"}`, main: true });
  const flatters = outer?.mean != null && chosen?.mean != null && direction(metrics, results.score) * (chosen.mean - outer.mean) > 0;
  if (chosen) list.push({ value: spread(chosen), label: `${scoreTitle(results.score)} of the chosen point${flatters ? ", a little too good" : ""}`, main: !outer });
  if (results.chosen) list.push({ value: chosenText(results), label: "chosen" });
  if (results.stability) {
    list.push({ value: grouped(results.stability.selected.length), label: `features chosen by ${percent(results.stability.min_frequency)} of resamples` });
    if (results.stability.value != null)
      list.push({ value: results.stability.value.toFixed(3), label: `stability (${score(results.stability.interval[0])} to ${score(results.stability.interval[1])})` });
  }
  const vectors = results.chosen?.["support_vectors"];
  if (typeof vectors === "number") list.push({ value: grouped(vectors), label: "support vectors" });
  // Points of models that were dropped have no scores on all splits, and are none of results.points.
  const tried = results.models?.reduce((sum, model) => sum + model.points, 0);
  list.push({ value: grouped(tried ?? results.points?.length ?? results.stability?.points.length ?? 0), label: "points tried" });
  list.push({ value: `${results.splits} · ${results.split}`, label: "splits" });
  list.push({ value: grouped(results.rows), label: "rows" }, { value: grouped(results.features), label: "features" });
  if (results.groups) list.push({ value: grouped(results.groups), label: "groups, kept together" });
  return list;
}

function Overview(props: ResultsProps) {
  const { results } = props;
  const chosen = results.chosen?.[results.score] as (Summary & { by_split?: number[] }) | undefined;
  const point = results.chosen && results.points?.find((row) => Object.entries(results.chosen!.best).every(([key, value]) => row[key] === value));
  const folds = results.outer?.folds;
  const bySplit = (point?.[results.score] as { by_split?: number[] } | undefined)?.by_split;
  const summaries = Object.entries(results.chosen ?? results.outer ?? {}).filter(
    (entry): entry is [string, Summary] => typeof entry[1] === "object" && entry[1] !== null && "mean" in entry[1],
  );
  return (
    <>
      <Tiles list={tilesOf(results, props.metrics)} />
      <div class="cards">
        {results.verdict && (
          <Card title="In short" wide>
            <p>{results.verdict}</p>
            <p class="soft">The model: {results.title}.</p>
          </Card>
        )}
        {(results.notes.length > 0 || results.warnings.length > 0) && (
          <Card title="Notes" wide>
            <Notes list={[...results.notes.map((text) => ({ text: plainNote(text, results.source) })), ...results.warnings.slice(0, 50).map((text) => ({ text: plainNote(text, results.source), warning: true }))]} />
          </Card>
        )}
        <Leaderboard results={results} />
        {results.stack && (
          <Card title="The stack" about="The prediction is the weighted mean of these models.">
            <Table
              label="Members of the stack"
              rows={results.stack.members}
              id={(member) => member.model + JSON.stringify(member.point)}
              columns={[
                { name: "weight", title: "weight", right: true, key: (m) => m.weight, cell: (m) => m.weight.toFixed(3) },
                { name: "model", title: "model", cell: (m) => m.model },
                { name: "point", title: "point", cell: (m) => pointText(m.point, settingText, axisTitle) },
              ]}
            />
          </Card>
        )}
        {folds ? (
          <FoldScores
            title={results.stability ? "Score of each resample" : "Nested validation"}
            about={`Each ${results.stability ? "resample" : "outer fold"} was held out of a search of its own. Dashed: the mean, ${spread(outerSummary(results))}.`}
            metric={results.score}
            names={results.stability ? "resample" : "outer fold"}
            scores={folds.map((fold) => fold.scores[results.score] ?? null)}
            inner={folds.map((fold) => fold.inner.mean)}
            mean={outerSummary(results)?.mean ?? null}
          />
        ) : (
          bySplit && <FoldScores title="The chosen point, split by split" about={`Mean ${spread(chosen)}.`} metric={results.score} scores={bySplit} mean={chosen?.mean ?? null} />
        )}
        {summaries.length > 0 && (
          <Card title={results.chosen ? "Every score of the chosen point" : "Every score on held-out rows"} about="Mean ± standard deviation over the splits.">
            <Table
              label="Scores"
              rows={summaries}
              id={([name]) => name}
              columns={[
                { name: "score", title: "score", key: ([name]) => name, cell: ([name]) => scoreTitle(name) },
                { name: "mean", title: "mean ± std. dev.", right: true, key: ([, summary]) => summary.mean, cell: ([, summary]) => spread(summary) },
                { name: "error", title: "std. error", right: true, key: ([, summary]) => (summary.mean == null ? null : summary.standard_error), cell: ([, summary]) => score(summary.mean == null ? null : summary.standard_error) },
              ]}
              marked={([name]) => name === results.score}
            />
          </Card>
        )}
      </div>
    </>
  );
}

function Leaderboard({ results }: { results: Results }) {
  const models = results.models;
  if (!models?.length) return null;
  return (
    <Card title="Models" about="The best point of each model on the same splits. An interval that holds 0 means that the splits do not tell the two apart." wide>
      <Table
        label="Models"
        rows={models}
        id={(row) => row.model + row.title + JSON.stringify(row.pipeline)}
        marked={(row) => row.difference === 0 && row.interval === null && row.dropped_after_splits === null}
        columns={[
          { name: "model", title: "model", key: (row) => row.model, cell: (row) => row.model },
          { name: "title", title: "what it is", long: true, cell: (row) => row.title },
          { name: "score", title: scoreTitle(results.score), right: true, key: (row) => row.score.mean, cell: (row) => (row.dropped_after_splits == null ? spread(row.score) : score(row.score.mean)) },
          { name: "difference", title: "difference", right: true, key: (row) => row.difference, cell: (row) => (row.difference ? `${row.difference > 0 ? "+" : ""}${row.difference.toFixed(4)}` : "") },
          {
            name: "interval",
            title: "95 % interval",
            right: true,
            cell: (row) =>
              row.interval
                ? `${row.interval.map((end) => `${end > 0 ? "+" : ""}${end.toFixed(4)}`).join(" to ")}`
                : row.dropped_after_splits != null
                  ? `dropped after ${plural(row.dropped_after_splits, "split")}`
                  : "",
          },
          { name: "points", title: "points", right: true, key: (row) => row.points, cell: (row) => grouped(row.points) },
          { name: "best", title: "best point", long: true, cell: (row) => (row.best ? pointText(Object.fromEntries(Object.entries(row.best).filter(([key]) => key !== "model")), settingText, axisTitle) : "") },
        ]}
      />
    </Card>
  );
}
