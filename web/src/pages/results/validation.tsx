// How far the figures can be trusted: outer folds, calibration, learning curve, shuffled labels.
import { drawHistogram } from "../../charts/bars";
import { drawScoreCurves } from "../../charts/curves";
import { Picture } from "../../charts/picture";
import { at, linear } from "../../charts/scale";
import { axisTitle, percent, plural, score, scoreTitle, settingText, spread } from "../../lib/format";
import { wilson } from "../../lib/points";
import type { Results } from "../../lib/types";
import { Card } from "../../ui/basic";
import { Table, type Column } from "../../ui/table";
import { outerSummary, type ResultsProps } from "./view";

export function ValidationCards({ results }: ResultsProps) {
  return (
    <div class="cards">
      <OuterTable results={results} />
      <LearningCurve results={results} />
      <Reliability results={results} />
      <Permutation results={results} />
    </div>
  );
}

function OuterTable({ results }: { results: Results }) {
  const folds = results.outer?.folds;
  if (!folds) return null;
  const rows = folds.map((fold, k) => ({ number: k + 1, fold }));
  const plain = Object.keys(folds[0] ?? {}).filter((key) => ["number", "string"].includes(typeof folds[0]![key]));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { name: "fold", title: results.stability ? "resample" : "outer fold", key: (row) => row.number, cell: (row) => row.number },
    ...plain.map((key): Column<Row> => ({ name: key, title: axisTitle(key), key: (row) => row.fold[key] as number, cell: (row) => settingText(row.fold[key] as number) })),
    { name: "inner", title: "within its search", right: true, key: (row) => row.fold.inner.mean, cell: (row) => spread(row.fold.inner) },
    ...Object.keys(folds[0]?.scores ?? {})
      .slice(0, 8)
      .map((name): Column<Row> => ({ name, title: scoreTitle(name), right: true, key: (row) => row.fold.scores[name], cell: (row) => score(row.fold.scores[name]) })),
  ];
  return (
    <Card
      title={results.stability ? "Resamples" : "Nested validation"}
      about={`Each was held out of a search of its own, whose choice was then scored on it: ${scoreTitle(results.score)} ${spread(outerSummary(results))}.`}
      wide
    >
      <Table label="Outer folds" rows={rows} columns={columns} id={(row) => String(row.number)} />
    </Card>
  );
}

function LearningCurve({ results }: { results: Results }) {
  const steps = results.learning_curve;
  if (!steps) return null;
  return (
    <Picture
      title="Learning curve"
      about="The chosen point on growing shares of the training rows. More rows help while the held-out score still rises."
      height={330}
      legend={[
        { colour: 0, text: "held-out rows" },
        { colour: 1, text: "training rows" },
      ]}
      draw={(pen) =>
        drawScoreCurves(pen, {
          x: "training rows",
          y: scoreTitle(results.score),
          curves: [
            { name: "held-out rows", colour: 0, points: steps.map((step) => ({ x: step.rows, summary: step.held_out })) },
            { name: "training rows", colour: 1, points: steps.map((step) => ({ x: step.rows, summary: step.training })) },
          ],
        })
      }
      data={() => ({
        columns: ["training rows", "mean on training rows", "standard deviation on training rows", "mean on held-out rows", "standard deviation on held-out rows"],
        rows: steps.map((step) => [step.rows, step.training.mean, step.training.standard_deviation, step.held_out.mean, step.held_out.standard_deviation]),
      })}
      keys={[steps]}
    />
  );
}

function Reliability({ results }: { results: Results }) {
  const bins = results.reliability?.filter((bin) => bin.rows > 0 && bin.mean_probability != null && bin.share_true != null);
  if (!bins?.length) return null;
  const rows = bins.reduce((sum, bin) => sum + bin.rows, 0);
  const two = results.classes.length === 2;
  const x = two ? `probability of ${results.positive_class}` : "probability of the prediction";
  const y = two ? `share that is ${results.positive_class}` : "share that is right";
  const gap = bins.reduce((sum, bin) => sum + (bin.rows / rows) * Math.abs(bin.share_true! - bin.mean_probability!), 0);
  return (
    <Picture
      title="Are the probabilities right?"
      about={`Held-out rows with similar probabilities together; larger dots are more rows, bars are 95 % intervals. On the dashed line probabilities mean what they say; the mean distance from it is ${score(gap)}.${
        results.calibrated ? ` Calibrated: log loss ${score(results.calibrated.log_loss.mean)}, Brier score ${score(results.calibrated.brier_score.mean)}.` : ""
      }`}
      height={360}
      draw={(pen) => {
        const bottom = pen.height - 50;
        const side = Math.min(pen.width - 72, 560);
        const ax = linear(0, 1, 58, 58 + side);
        const ay = linear(0, 1, bottom, 30);
        pen.bottomAxis(ax, 30, bottom, x);
        pen.leftAxis(ay, 58, 58 + side, y);
        pen.line(at(ax, 0), at(ay, 0), at(ax, 1), at(ay, 1), { stroke: pen.theme.soft, dash: [4, 4] });
        pen.path(bins.map((bin) => [at(ax, bin.mean_probability!), at(ay, bin.share_true!)] as const), { stroke: pen.theme.ink, width: 1.5 });
        for (const bin of bins) {
          const px = at(ax, bin.mean_probability!);
          const [low, high] = wilson(bin.share_true!, bin.rows);
          pen.line(px, at(ay, low), px, at(ay, high), { stroke: pen.theme.soft, width: 1.2 });
          const radius = 3 + 6 * Math.sqrt(bin.rows / rows);
          pen.circle(px, at(ay, bin.share_true!), radius, { fill: pen.theme.colours[0]! });
          pen.spot(px, at(ay, bin.share_true!), radius, `probabilities ${bin.low.toFixed(1)} to ${bin.high.toFixed(1)}: ${plural(bin.rows, "row")}\non average ${score(bin.mean_probability)}, ${percent(bin.share_true!)} came true`);
        }
      }}
      data={() => ({ columns: ["low", "high", "rows", "mean probability", "share that came true"], rows: bins.map((bin) => [bin.low, bin.high, bin.rows, bin.mean_probability, bin.share_true]) })}
      keys={[bins.length, results]}
    />
  );
}

function Permutation({ results }: { results: Results }) {
  const test = results.permutation_test;
  if (!test) return null;
  const all = [...test.shuffled, test.score];
  const low = Math.min(...all);
  const step = (Math.max(...all) - low) / 20 || 1;
  const bins = Array.from({ length: 21 }, (_, k) => ({ name: (low + k * step).toFixed(3), count: 0 }));
  for (const value of test.shuffled) bins[Math.min(20, Math.floor((value - low) / step))]!.count++;
  return (
    <Picture
      title="The same with shuffled labels"
      about={`The whole search was repeated ${test.shuffled.length} times with labels in random order. The real score is ${score(test.score)}; p = ${test.p_value}.`}
      height={260}
      draw={(pen) => drawHistogram(pen, bins, scoreTitle(results.score), "searches")}
      data={() => ({ columns: ["search", "score"], rows: [["real", test.score], ...test.shuffled.map((value, k): [string, number] => [`shuffled ${k + 1}`, value])] })}
      keys={[test]}
    />
  );
}
