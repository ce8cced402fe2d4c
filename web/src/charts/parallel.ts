// Every point as a line across its settings and score; ranges on the axes choose among them.
import { axisTitle, score as scoreText, scoreTitle, settingText } from "../lib/format";
import { mean, type ScoredPoint } from "../lib/points";
import { heatText } from "./heat";
import { shade, short, type Pen, type XY } from "./pen";
import { at, extent, inverse, linear, parameterAxis, scoreAxis, ticks, type Axis } from "./scale";

export interface Column {
  name: string;
  title: string;
  value: (point: ScoredPoint) => number;
  axis: (bottom: number, top: number) => Axis;
  text: (value: number) => string;
}

export type Ranges = Record<string, [number, number]>;

export function columnsOf(points: ScoredPoint[], settings: string[], metric: string): Column[] {
  const columns: Column[] = settings.map((name) => {
    const values = points.map((point) => point.values[name]).filter((value) => value !== undefined);
    if (values.every((value) => typeof value === "number"))
      return {
        name,
        title: axisTitle(name),
        value: (point) => Number(point.values[name] ?? NaN),
        axis: (bottom, top) => parameterAxis(values as number[], bottom, top),
        text: settingText,
      };
    const names = [...new Set(values.map(String))].sort();
    return {
      name,
      title: axisTitle(name),
      value: (point) => names.indexOf(String(point.values[name])),
      axis: (bottom, top) => linear(-0.3, names.length - 0.7, bottom, top),
      text: (value) => names[value] ?? "",
    };
  });
  const scores = points.map((point) => mean(point, metric));
  columns.push({ name: metric, title: scoreTitle(metric), value: (point) => mean(point, metric), axis: (b, t) => scoreAxis(scores, b, t), text: scoreText });
  return columns;
}

export const within = (point: ScoredPoint, columns: Column[], ranges: Ranges): boolean =>
  columns.every(({ name, value }) => {
    const range = ranges[name];
    return !range || (value(point) >= range[0] && value(point) <= range[1]);
  });

/** Lines that are drawn at most, the best ones. */
export const mostLines = 4000;

const top = 44;
const bottom = (pen: { height: number }) => pen.height - 20;
const place = (k: number, count: number, width: number) => 60 + (k * (width - 130)) / Math.max(count - 1, 1);

/** The column nearest to a pixel, and the value there. */
export function valueAt(x: number, y: number, columns: Column[], width: number, height: number): { column: Column; value: number } | null {
  for (const [k, column] of columns.entries())
    if (Math.abs(place(k, columns.length, width) - x) < 24) {
      const axis = column.axis(height - 20, top);
      return { column, value: inverse(axis, Math.min(axis.first, Math.max(axis.last, y))) };
    }
  return null;
}

export function drawParallel(pen: Pen, points: ScoredPoint[], columns: Column[], ranges: Ranges, sign: 1 | -1): void {
  const metric = columns.at(-1)!;
  const [low, high] = extent(points.map((point) => sign * metric.value(point)));
  const axes = columns.map((column) => column.axis(bottom(pen), top));
  const lineOf = (point: ScoredPoint): XY[] =>
    columns.flatMap((column, k) => {
      const value = column.value(point);
      return Number.isFinite(value) ? [[place(k, columns.length, pen.width), at(axes[k]!, value)] as XY] : [];
    });
  const ordered = points
    .filter((point) => Number.isFinite(metric.value(point)))
    .sort((a, b) => sign * (metric.value(a) - metric.value(b)))
    .slice(-mostLines);
  for (const point of ordered) {
    const inside = within(point, columns, ranges);
    const share = high > low ? (sign * metric.value(point) - low) / (high - low) : 1;
    pen.path(lineOf(point), inside ? { stroke: shade(pen.theme, 0.15 + 0.85 * share), width: 1.2 + share, opacity: 0.85 } : { stroke: pen.theme.rule, width: 0.7, opacity: 0.5 });
  }
  columns.forEach((column, k) => {
    const x = place(k, columns.length, pen.width);
    const axis = axes[k]!;
    pen.line(x, top, x, bottom(pen), { stroke: pen.theme.soft, width: 1.2 });
    pen.text(x, 20, short(column.title, 16), { anchor: "middle", bold: true });
    const marks = column.text(0) !== "" && axis.low === -0.3 ? Array.from({ length: Math.round(axis.high + 0.7) }, (_, i) => i) : ticks(axis, 5);
    for (const value of marks) pen.text(x + 6, at(axis, value) + 4, column.text(value), { colour: pen.theme.soft, size: 11 });
    const range = ranges[column.name];
    if (range) {
      const a = at(axis, range[1]);
      const b = at(axis, range[0]);
      pen.rect(x - 7, a, 14, Math.max(2, b - a), { fill: pen.theme.colours[1]!, opacity: 0.35, stroke: pen.theme.colours[1]! });
    }
  });
  for (const point of ordered) {
    const end = lineOf(point).at(-1);
    if (end && within(point, columns, ranges)) pen.spot(end[0], end[1], 4, heatText(point, metric.name));
  }
}
