// Two to ten runs on the same splits.
import { useMemo } from "preact/hooks";

import { drawIntervals, lineHeight, type Interval } from "../charts/bars";
import { drawScoreCurves, drawUnitCurves, unitCurve, type ScoreCurve, type UnitCurve } from "../charts/curves";
import { Picture } from "../charts/picture";
import { at, linear, scoreAxis } from "../charts/scale";
import { get, post, runs as allRuns, table } from "../lib/api";
import { axisTitle, score as scoreText, scoreTitle } from "../lib/format";
import { useLoad } from "../lib/hooks";
import { isNumeric, mean, pointsOf, varying } from "../lib/points";
import { link, replace, type Route } from "../lib/router";
import { changes, useStore } from "../lib/store";
import type { Results, Run, RunDetail } from "../lib/types";
import { Card, Empty, Failure, Notes, PageHead, Waiting } from "../ui/basic";
import { Table } from "../ui/table";
import { modelName, valueText } from "./home";

interface Pair {
  score: string;
  nested: boolean;
  first: number[];
  second: number[];
  mean_first: number;
  mean_second: number;
  difference: number;
  interval: [number, number];
  p_value: number;
}

interface Many {
  score: string;
  nested: boolean;
  searches: {
    search: string;
    scores: number[];
    mean: number;
    interval: [number, number];
    difference: number | null;
    difference_interval: [number, number] | null;
    p_value: number | null;
    adjusted_p_value: number | null;
  }[];
}

interface Answer {
  comparison: Partial<Pair> & Partial<Many>;
  runs: Run[];
  differences: { setting: string; values: unknown[] }[];
  warnings: string[];
}

interface Line {
  name: string;
  id: string;
  scores: number[];
  mean: number;
  interval: [number, number] | null;
  difference: number | null;
  differenceInterval: [number, number] | null;
  p: number | null;
}

/** Differences as those to the first line: above 0 if the run's mean is larger. */
function againstFirst(lines: Line[]): Line[] {
  return lines.map((line) => {
    const own = line.mean - lines[0]!.mean;
    if (line.difference == null || Math.sign(own) === Math.sign(line.difference)) return line;
    const ends = line.differenceInterval;
    return { ...line, difference: -line.difference, differenceInterval: ends && [-ends[1], -ends[0]] };
  });
}

/** Both forms of `sheaf compare --json` as lines. */
function linesOf({ comparison, runs }: Answer): Line[] {
  if (comparison.searches)
    return comparison.searches.map((one) => {
      const run = runs.find((r) => one.search.endsWith(r.path)) ?? runs.find((r) => one.search.endsWith(r.name));
      return { name: run?.name ?? one.search, id: run?.id ?? "", scores: one.scores, mean: one.mean, interval: one.interval, difference: one.difference, differenceInterval: one.difference_interval, p: one.adjusted_p_value };
    });
  const c = comparison as Pair;
  const line = (k: 0 | 1, scores: number[], value: number): Line => ({
    name: runs[k]?.name ?? `run ${k + 1}`,
    id: runs[k]?.id ?? "",
    scores,
    mean: value,
    interval: null,
    difference: k === 0 ? null : c.difference,
    differenceInterval: k === 0 ? null : c.interval,
    p: k === 0 ? null : c.p_value,
  });
  return [line(0, c.first, c.mean_first), line(1, c.second, c.mean_second)];
}

const idsOf = (route: Route) => (route.query.get("runs") ?? "").split(",").filter(Boolean).slice(0, 10);

export function Compare({ route }: { route: Route }) {
  const ids = idsOf(route);
  const version = useStore(changes);
  const runs = useLoad((signal) => allRuns({ sort: "-modified", state: "done", kind: "search" }, 1000, signal), [version]);
  const set = (next: string[]) => replace(link("compare", "", { runs: next.join(",") }));
  if (runs.error) return <Failure error={runs.error} again={runs.again} />;
  if (!runs.value) return <Waiting />;
  const chosen = ids.map((id) => runs.value!.runs.find((run) => run.id === id)).filter((run) => run !== undefined);
  return (
    <>
      <PageHead title="Compare" about="Two to ten searches with the same dataset, splits and seed." />
      <div class="cards">
        <Card title="Runs" wide>
          <ul class="plain-list">
            {chosen.map((run, k) => (
              <li key={run.id}>
                <i class={`swatch f${k % 8}`} aria-hidden="true" /> <a href={link("runs", run.id)}>{run.path}</a>{" "}
                <span class="soft">
                  {modelName(run)}, {scoreTitle(run.score ?? "")} {valueText(run)}
                </span>{" "}
                <button type="button" class="link" aria-label={`Leave out ${run.name}`} onClick={() => set(ids.filter((id) => id !== run.id))}>
                  leave out
                </button>
              </li>
            ))}
          </ul>
          {ids.length < 10 && (
            <div class="controls add-run">
              <select aria-label="Add a run" value="" onChange={(event) => set([...ids, event.currentTarget.value])}>
                <option value="">add a run …</option>
                {runs.value.runs
                  .filter((run) => !ids.includes(run.id))
                  .map((run) => (
                    <option key={run.id} value={run.id}>
                      {run.path} · {modelName(run)}
                    </option>
                  ))}
              </select>
            </div>
          )}
        </Card>
      </div>
      {chosen.length < 2 ? <Empty title="Choose two runs or more." /> : <Comparison key={ids.join()} ids={ids} />}
    </>
  );
}

function Comparison({ ids }: { ids: string[] }) {
  const loaded = useLoad((signal) => post<Answer>("compare", { runs: ids }, signal), [ids.join()]);
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />;
  if (!loaded.value) return <Waiting what="Comparing" />;
  const answer = loaded.value;
  const lines = againstFirst(linesOf(answer));
  const score = scoreTitle(answer.comparison.score ?? "score");
  const colour = (line: Line) => Math.max(0, ids.indexOf(line.id));
  const signed = (value: number | null) => (value == null ? "" : `${value > 0 ? "+" : ""}${value.toFixed(4)}`);
  const legend = lines.map((line) => ({ colour: colour(line), text: line.name }));
  const intervals: Interval[] = lines.flatMap((line) =>
    line.interval ? [{ name: line.name, value: line.mean, low: line.interval[0], high: line.interval[1], colour: colour(line) }] : [],
  );
  const differences: Interval[] = lines.flatMap((line) =>
    line.difference != null && line.differenceInterval ? [{ name: line.name, value: line.difference, low: line.differenceInterval[0], high: line.differenceInterval[1], colour: colour(line) }] : [],
  );
  return (
    <div class="cards comparison">
      {answer.warnings.length > 0 && (
        <Card title="Notes" wide>
          <Notes list={answer.warnings.map((text) => ({ text, warning: true }))} />
        </Card>
      )}
      <Card title={score} about={answer.comparison.nested ? "By nested validation: an honest comparison." : "The points were chosen on the splits that compare them, so differences look a little too large."} wide>
        <Table
          label="Comparison"
          rows={lines}
          id={(line) => line.name + line.id}
          columns={[
            { name: "name", title: "run", cell: (line) => <a href={link("runs", line.id)}>{line.name}</a> },
            { name: "mean", title: "mean", right: true, key: (line) => line.mean, cell: (line) => scoreText(line.mean) },
            ...(intervals.length > 0 ? [{ name: "interval", title: "95 % interval", right: true, cell: (line: Line) => (line.interval ? line.interval.map(scoreText).join(" to ") : "") }] : []),
            { name: "difference", title: `difference to ${lines[0]!.name}`, right: true, key: (line) => line.difference, cell: (line) => signed(line.difference) },
            { name: "difference-interval", title: "its 95 % interval", right: true, cell: (line) => (line.differenceInterval ? line.differenceInterval.map(signed).join(" to ") : "") },
            { name: "p", title: "p-value", right: true, key: (line) => line.p, cell: (line) => (line.p == null ? "" : line.p < 0.0001 ? "< 0.0001" : line.p.toFixed(4)) },
          ]}
        />
      </Card>
      <SplitScores lines={lines} score={score} colour={colour} />
      {intervals.length > 0 && (
        <Picture
          title="Scores with intervals"
          about="Corrected for splits that share training rows."
          height={intervals.length * lineHeight + 60}
          draw={(pen) => drawIntervals(pen, intervals, score)}
          data={() => ({ columns: ["run", "mean", "low", "high"], rows: intervals.map((one) => [one.name, one.value, one.low, one.high]) })}
          keys={[JSON.stringify(intervals)]}
        />
      )}
      {differences.length > 0 && (
        <Picture
          title="Differences"
          about={`To ${lines[0]!.name}. An interval that holds 0 means that the splits do not tell the runs apart.`}
          height={differences.length * lineHeight + 60}
          draw={(pen) => drawIntervals(pen, differences, `difference of ${score}`, 0)}
          data={() => ({ columns: ["run", "difference", "low", "high"], rows: differences.map((one) => [one.name, one.value, one.low, one.high]) })}
          keys={[JSON.stringify(differences)]}
        />
      )}
      <Overlays ids={ids} runs={answer.runs} legend={legend} />
      <Card title="Settings that differ" about={answer.differences.length === 0 ? "None: the runs have the same settings." : undefined} wide>
        {answer.differences.length > 0 && (
          <Table
            label="Settings that differ"
            rows={answer.differences}
            id={(row) => row.setting}
            columns={[
              { name: "setting", title: "setting", key: (row) => row.setting, cell: (row) => row.setting },
              ...answer.runs.map((run, k) => ({ name: run.id, title: run.name, cell: (row: Answer["differences"][number]) => shortValue(row.values[k]) })),
            ]}
          />
        )}
      </Card>
    </div>
  );
}

function shortValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "by the data" : shortValue(value.map((one) => (typeof one === "object" ? JSON.stringify(one) : one)).join(", "));
  const text = value == null ? "-" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? text.slice(0, 60) + "…" : text;
}

function SplitScores({ lines, score, colour }: { lines: Line[]; score: string; colour: (line: Line) => number }) {
  const count = Math.max(0, ...lines.map((line) => line.scores.length));
  if (count === 0) return null;
  return (
    <Picture
      title="Split by split"
      about="Dots of one split are connected runs on the same rows."
      height={300}
      legend={lines.map((line) => ({ colour: colour(line), text: line.name }))}
      draw={(pen) => {
        const bottom = pen.height - 50;
        const x = linear(0.5, count + 0.5, 58, pen.width - 14);
        const y = scoreAxis(lines.flatMap((line) => line.scores), bottom, 30);
        pen.leftAxis(y, 58, pen.width - 14, score);
        for (let k = 0; k < count; ++k) pen.text(at(x, k + 1), bottom + 16, String(k + 1), { colour: pen.theme.soft, size: 11, anchor: "middle" });
        pen.text((58 + pen.width - 14) / 2, bottom + 34, "split", { colour: pen.theme.soft, anchor: "middle" });
        for (const line of lines) {
          const own = pen.theme.colours[colour(line) % 8]!;
          pen.path(line.scores.map((value, k) => [at(x, k + 1), at(y, value)] as const), { stroke: own, width: 1.2, opacity: 0.6 });
          line.scores.forEach((value, k) => {
            pen.circle(at(x, k + 1), at(y, value), 4.5, { fill: own });
            pen.spot(at(x, k + 1), at(y, value), 6, `${line.name}\nsplit ${k + 1}: ${scoreText(value)}`);
          });
        }
      }}
      data={() => ({ columns: ["split", ...lines.map((line) => line.name)], rows: Array.from({ length: count }, (_, k) => [k + 1, ...lines.map((line) => line.scores[k])]) })}
      keys={[JSON.stringify(lines)]}
    />
  );
}

/** ROC curves, and the score over a setting that all runs have. */
function Overlays({ ids, runs, legend }: { ids: string[]; runs: Run[]; legend: { colour: number; text: string }[] }) {
  const loaded = useLoad(
    (signal) =>
      Promise.all(
        ids.map(async (id) => {
          const run = await get<RunDetail>(`runs/${id}`, {}, signal);
          const results = await get<Results>(`runs/${id}/results`, {}, signal);
          const curves = run.files.some(({ name }) => name === "curves.csv") ? await table(id, "curves.csv", 200_000, signal) : null;
          return { results, curves };
        }),
      ),
    [ids.join()],
  );
  const nameOf = (k: number) => runs.find((run) => run.id === ids[k])?.name ?? "";
  const roc = useMemo(
    () =>
      (loaded.value ?? []).flatMap(({ curves }, k): UnitCurve[] => {
        const split = new Map<number, { x: number[]; y: number[] }>();
        for (const row of curves?.rows ?? []) {
          if (row[0] !== "roc") continue;
          const own = split.get(Number(row[1])) ?? { x: [], y: [] };
          split.set(Number(row[1]), own);
          own.x.push(Number(row[2]));
          own.y.push(Number(row[3]));
        }
        return split.size > 0 ? [unitCurve(nameOf(k), k, split)] : [];
      }),
    [loaded.value],
  );
  const over = useMemo(() => {
    const all = (loaded.value ?? []).map(({ results }) => ({ results, points: pointsOf(results) }));
    const axes = all.map(({ points }) => varying(points.list, points.axes).filter((axis) => isNumeric(points.list, axis)));
    const axis = axes[0]?.find((one) => axes.every((list) => list.includes(one)));
    if (!axis) return null;
    const curves = all.map(({ results, points }, colour): ScoreCurve => {
      const best = new Map<number, (typeof points.list)[number]>();
      for (const point of points.list) {
        const x = Number(point.values[axis]);
        const old = best.get(x);
        if (!old || mean(point, results.score) > mean(old, results.score)) best.set(x, point);
      }
      return { name: nameOf(colour), colour, points: [...best].map(([x, point]) => ({ x, summary: point.scores[results.score] ?? { mean: null } })) };
    });
    return { axis, curves, score: all[0]!.results.score };
  }, [loaded.value]);
  if (!loaded.value) return null;
  return (
    <>
      {roc.length > 1 && (
        <Picture
          title="ROC curves"
          about="Mean over the splits, with one standard deviation to each side."
          height={360}
          legend={legend}
          draw={(pen) => drawUnitCurves(pen, { x: "share of the others taken for it", y: "share found", curves: roc, diagonal: true, fromOrigin: true, folds: false })}
          data={() => ({ columns: ["run", "x", "y", "standard deviation"], rows: roc.flatMap((curve) => curve.x.map((x, k) => [curve.name, x, curve.mean[k], curve.deviation[k]])) })}
          keys={[roc]}
        />
      )}
      {over && (
        <Picture
          title={`Scores over ${axisTitle(over.axis)}`}
          about="Of other settings the best value."
          height={330}
          legend={legend}
          draw={(pen) => drawScoreCurves(pen, { x: over.axis, y: scoreTitle(over.score), curves: over.curves })}
          data={() => ({ columns: ["run", over.axis, "mean", "standard deviation"], rows: over.curves.flatMap((curve) => curve.points.map((point) => [curve.name, point.x, point.summary.mean, point.summary.standard_deviation])) })}
          keys={[over]}
        />
      )}
    </>
  );
}
