// Lines with bands: scores over one setting, ROC, precision and recall, calibration, learning curves, paths.
import { axisTitle, general, score as scoreText, spread, type Summary } from "../lib/format";
import type { Pen, XY } from "./pen";
import { at, extent, linear, logTitle, parameterAxis, scoreAxis, type Axis } from "./scale";

const left = 58;
const top = 30;
const room = 50; // below the plot

interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const frameOf = (pen: Pen): Frame => ({ left, right: pen.width - 14, top, bottom: pen.height - room });

export interface ScoreCurve {
  name: string;
  colour: number;
  points: { x: number; summary: Summary & { by_split?: (number | null)[] }; ringed?: boolean; text?: string; pick?: () => void }[];
}

export interface ScoreCurvesOptions {
  x: string;
  y: string;
  curves: ScoreCurve[];
  /** A dashed line: one standard error from the best mean. */
  bar?: number | null;
  splits?: boolean;
}

export function drawScoreCurves(pen: Pen, options: ScoreCurvesOptions): void {
  const f = frameOf(pen);
  const all = options.curves.flatMap((curve) => curve.points).filter((point) => point.summary.mean != null);
  if (all.length === 0) {
    pen.text(pen.width / 2, pen.height / 2, "No scores yet", { colour: pen.theme.soft, anchor: "middle" });
    return;
  }
  const heights = all.flatMap(({ summary }) => {
    const deviation = summary.standard_deviation ?? 0;
    const single = options.splits ? (summary.by_split ?? []).filter((value): value is number => value != null) : [];
    return [summary.mean! - deviation, summary.mean! + deviation, ...single];
  });
  const x = parameterAxis(all.map((point) => point.x), f.left + 12, f.right - 12);
  const y = scoreAxis(heights, f.bottom, f.top);
  pen.bottomAxis(x, f.top, f.bottom, logTitle(options.x, x));
  pen.leftAxis(y, f.left, f.right, options.y);
  const single = options.curves.length === 1;
  if (options.bar != null && Number.isFinite(options.bar))
    pen.line(f.left, at(y, options.bar), f.right, at(y, options.bar), { stroke: pen.theme.soft, dash: [4, 4] });
  for (const curve of options.curves) {
    const colour = pen.theme.colours[curve.colour % 8]!;
    const points = curve.points.filter((point) => point.summary.mean != null).sort((a, b) => a.x - b.x);
    const line = (sign: number): XY[] =>
      points.map(({ x: value, summary }) => [at(x, value), at(y, summary.mean! + sign * (summary.standard_deviation ?? 0))]);
    pen.band(line(1), line(-1), { fill: colour, opacity: single ? 0.18 : 0.12 });
    pen.path(line(0), { stroke: single ? pen.theme.ink : colour, width: 1.7 });
    for (const point of points) {
      const px = at(x, point.x);
      const py = at(y, point.summary.mean!);
      if (options.splits)
        for (const value of point.summary.by_split ?? [])
          if (value != null) pen.circle(px, at(y, value), 2.4, { fill: pen.theme.soft, opacity: 0.4 });
      pen.circle(px, py, 4, { fill: colour });
      if (point.ringed) pen.circle(px, py, 8.5, { stroke: pen.theme.colours[1]!, width: 2.2 });
      const name = curve.name ? curve.name + ": " : "";
      pen.spot(px, py, 5, point.text ?? `${name}${axisTitle(options.x)} = ${general(point.x)}\n${options.y} ${spread(point.summary)}`, point.pick);
    }
  }
}

/** Curves at the same places of x from 0 to 1. */
export interface UnitCurve {
  name: string;
  colour: number;
  x: number[];
  mean: number[];
  deviation: number[];
  singles?: number[][];
}

export interface UnitOptions {
  x: string;
  y: string;
  curves: UnitCurve[];
  diagonal: boolean;
  fromOrigin: boolean;
  folds: boolean;
  marks?: { x: number; y: number; text: string }[];
}

export function drawUnitCurves(pen: Pen, options: UnitOptions): void {
  const f = frameOf(pen);
  const side = Math.min(f.right - f.left, 560);
  const x = linear(0, 1, f.left, f.left + side);
  const y = linear(0, 1, f.bottom, f.top);
  pen.bottomAxis(x, f.top, f.bottom, options.x);
  pen.leftAxis(y, f.left, f.left + side, options.y);
  if (options.diagonal) pen.line(at(x, 0), at(y, 0), at(x, 1), at(y, 1), { stroke: pen.theme.soft, dash: [4, 4] });
  for (const curve of options.curves) {
    const colour = pen.theme.colours[curve.colour % 8]!;
    const line = (sign: number): XY[] => curve.x.map((value, k) => [at(x, value), at(y, curve.mean[k]! + sign * curve.deviation[k]!)]);
    pen.band(line(1), line(-1), { fill: colour, opacity: 0.18 });
    if (options.folds)
      for (const single of curve.singles ?? [])
        pen.path(single.map((value, k) => [at(x, curve.x[k]!), at(y, value)] as const), { stroke: colour, width: 0.8, opacity: 0.6 });
    const middle = line(0);
    if (options.fromOrigin) middle.unshift([at(x, 0), at(y, 0)]);
    pen.path(middle, { stroke: options.curves.length === 1 ? pen.theme.ink : colour, width: 1.8 });
    curve.x.forEach((value, k) => {
      if (k % 5 === 0 || k === curve.x.length - 1)
        pen.spot(
          at(x, value),
          at(y, curve.mean[k]!),
          2,
          `${curve.name ? curve.name + "\n" : ""}${options.x}: ${general(value, 3)}\n${options.y}: ${scoreText(curve.mean[k])} ± ${scoreText(curve.deviation[k])}`,
        );
    });
  }
  for (const mark of options.marks ?? []) {
    pen.circle(at(x, mark.x), at(y, mark.y), 6, { fill: pen.theme.colours[1]!, stroke: pen.theme.card, width: 2 });
    pen.spot(at(x, mark.x), at(y, mark.y), 7, mark.text);
  }
}

/** Mean and standard deviation over splits at each place of x. */
export function unitCurve(name: string, colour: number, bySplit: Map<number, { x: number[]; y: number[] }>): UnitCurve {
  const curves = [...bySplit.values()];
  const x = curves[0]?.x ?? [];
  const means: number[] = [];
  const deviations: number[] = [];
  for (let k = 0; k < x.length; ++k) {
    const values = curves.map((curve) => curve.y[k]!).filter(Number.isFinite);
    const m = values.reduce((a, b) => a + b, 0) / values.length;
    means.push(m);
    deviations.push(values.length > 1 ? Math.sqrt(values.reduce((s, v) => s + (v - m) ** 2, 0) / (values.length - 1)) : 0);
  }
  return { name, colour, x, mean: means, deviation: deviations, singles: curves.map((curve) => curve.y) };
}

export interface Series {
  name: string;
  colour: number | "faint" | "ink";
  points: XY[];
}

export interface LinesOptions {
  x: string;
  y: string;
  series: Series[];
  xAxis?: (first: number, last: number) => Axis;
  yAxis?: (bottom: number, top: number) => Axis;
  vertical?: { x: number; text: string } | undefined;
  horizontal?: number;
  diagonal?: boolean;
  dots?: boolean;
}

export function drawLines(pen: Pen, options: LinesOptions): void {
  const f = frameOf(pen);
  const all = options.series.flatMap((series) => series.points);
  const x = options.xAxis ? options.xAxis(f.left + 4, f.right - 4) : linear(...extent(all.map(([value]) => value)), f.left + 4, f.right - 4);
  const y = options.yAxis ? options.yAxis(f.bottom, f.top) : scoreAxis(all.map(([, value]) => value), f.bottom, f.top);
  pen.bottomAxis(x, f.top, f.bottom, options.x);
  pen.leftAxis(y, f.left, f.right, options.y);
  if (options.diagonal) pen.line(at(x, y.low), at(y, x.low), at(x, y.high), at(y, x.high), { stroke: pen.theme.soft, dash: [4, 4] });
  if (options.horizontal !== undefined)
    pen.line(f.left, at(y, options.horizontal), f.right, at(y, options.horizontal), { stroke: pen.theme.soft });
  if (options.vertical) {
    const px = at(x, options.vertical.x);
    pen.line(px, f.top, px, f.bottom, { stroke: pen.theme.soft, dash: [4, 4] });
    pen.text(px + 6, f.top + 12, options.vertical.text, { colour: pen.theme.soft, size: 11 });
  }
  for (const series of options.series) {
    const faint = series.colour === "faint";
    const colour = series.colour === "faint" ? pen.theme.soft : series.colour === "ink" ? pen.theme.ink : pen.theme.colours[series.colour % 8]!;
    const line = series.points.map(([a, b]) => [at(x, a), at(y, b)] as const);
    pen.path(line, { stroke: colour, width: faint ? 0.8 : 1.8, opacity: faint ? 0.5 : 1 });
    const every = Math.max(1, Math.ceil(series.points.length / 200));
    line.forEach(([px, py], k) => {
      if (options.dots) pen.circle(px, py, 3.4, { fill: colour });
      if (!faint && k % every === 0) {
        const [a, b] = series.points[k]!;
        pen.spot(px, py, 3, `${series.name}\n${options.x.replace(/ \(log scale\)$/, "")}: ${general(a, 4)}\n${options.y}: ${general(b, 5)}`);
      }
    });
  }
}
