// A map of scores over two settings: a cell for each pair of values, or dots on a plane where values are drawn at random.
import { axisTitle, score as scoreText, scoreTitle, settingText, spread } from "../lib/format";
import { mean, type ScoredPoint, type Value } from "../lib/points";
import { readable, shade, type Pen, type Spot } from "./pen";
import { at, logTitle, parameterAxis } from "./scale";

export interface HeatOptions {
  points: ScoredPoint[];
  x: string;
  y: string;
  metric: string;
  sign: 1 | -1;
  inRegion: (point: ScoredPoint) => boolean;
  isChosen: (point: ScoredPoint) => boolean;
  pick?: (point: ScoredPoint) => void;
}

const sorted = (values: Value[]): Value[] =>
  [...new Set(values)].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1));

/** Whether points share values of both settings, so that cells stand side by side. */
export function isGrid(points: ScoredPoint[], x: string, y: string): boolean {
  const columns = new Set(points.map((point) => point.values[x])).size;
  const lines = new Set(points.map((point) => point.values[y])).size;
  return points.length >= 1.5 * Math.max(columns, lines);
}

export function heatText(point: ScoredPoint, metric: string): string {
  const settings = Object.entries(point.values).map(([key, value]) => `${axisTitle(key)} = ${settingText(value)}`);
  const size = point.size === undefined ? [] : [`size ${point.size.toFixed(1)}`];
  return [`${scoreTitle(metric)} ${spread(point.scores[metric])}`, settings.join(", "), ...size].join("\n");
}

const frame = { left: 64, right: 16, top: 30, bottom: 78 };

/** Of several points of one cell (they differ in other settings) the best. */
function bestPerCell(options: HeatOptions): Map<string, ScoredPoint> {
  const cells = new Map<string, ScoredPoint>();
  for (const point of options.points) {
    const value = mean(point, options.metric);
    if (!Number.isFinite(value)) continue;
    const key = `${point.values[options.x]}|${point.values[options.y]}`;
    const other = cells.get(key);
    if (!other || options.sign * value > options.sign * mean(other, options.metric)) cells.set(key, point);
  }
  return cells;
}

export function drawHeat(pen: Pen, options: HeatOptions): void {
  const shown = options.points.filter((point) => Number.isFinite(mean(point, options.metric)));
  if (shown.length === 0) {
    pen.text(pen.width / 2, pen.height / 2, "No scores yet", { colour: pen.theme.soft, anchor: "middle" });
    return;
  }
  const values = shown.map((point) => options.sign * mean(point, options.metric));
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const share = (point: ScoredPoint) => (high > low ? (options.sign * mean(point, options.metric) - low) / (high - low) : 1);
  if (isGrid(shown, options.x, options.y)) drawCells(pen, options, shown, share);
  else drawDots(pen, options, shown, share);
  drawScale(pen, scoreText(options.sign * low), scoreText(options.sign * high));
}

function drawScale(pen: Pen, low: string, high: string): void {
  const y = pen.height - 16;
  const x = frame.left + 60;
  pen.text(x - 6, y + 9, low, { colour: pen.theme.soft, size: 11, anchor: "end" });
  for (let k = 0; k <= 10; ++k) pen.rect(x + 14 * k, y, 14.3, 10, { fill: shade(pen.theme, k / 10) });
  pen.text(x + 160, y + 9, high, { colour: pen.theme.soft, size: 11 });
}

function drawCells(pen: Pen, options: HeatOptions, shown: ScoredPoint[], share: (point: ScoredPoint) => number): void {
  const xs = sorted(shown.map((point) => point.values[options.x]!));
  const ys = sorted(shown.map((point) => point.values[options.y]!)).reverse();
  const column = new Map(xs.map((value, k) => [value, k]));
  const line = new Map(ys.map((value, k) => [value, k]));
  const cells = bestPerCell({ ...options, points: shown });
  const grid: (ScoredPoint | undefined)[] = new Array(xs.length * ys.length);
  const colours: string[] = new Array(grid.length).fill("");
  for (const point of cells.values()) {
    const k = line.get(point.values[options.y]!)! * xs.length + column.get(point.values[options.x]!)!;
    grid[k] = point;
    colours[k] = shade(pen.theme, Math.round(share(point) * 50) / 50);
  }
  const width = pen.width - frame.left - frame.right;
  const height = pen.height - frame.top - frame.bottom;
  const w = width / xs.length;
  const h = height / ys.length;
  pen.cells(frame.left, frame.top, width, height, xs.length, colours);
  if (w > 9 && h > 9) {
    for (let k = 1; k < xs.length; ++k)
      pen.line(frame.left + k * w, frame.top, frame.left + k * w, frame.top + height, { stroke: pen.theme.card });
    for (let k = 1; k < ys.length; ++k)
      pen.line(frame.left, frame.top + k * h, frame.left + width, frame.top + k * h, { stroke: pen.theme.card });
  }
  labels(pen, xs, (k) => frame.left + (k + 0.5) * w, w, "x");
  labels(pen, ys, (k) => frame.top + (k + 0.5) * h, h, "y");
  pen.text(frame.left + width / 2, frame.top + height + 34, axisTitle(options.x), { colour: pen.theme.soft, anchor: "middle" });
  pen.text(8, frame.top - 12, axisTitle(options.y), { colour: pen.theme.soft });
  outline(pen, grid, xs.length, w, h, options.inRegion);
  const fewCells = w > 44 && h > 20 && grid.length < 400;
  grid.forEach((point, k) => {
    if (!point) return;
    const x = frame.left + ((k % xs.length) + 0.5) * w;
    const y = frame.top + (Math.floor(k / xs.length) + 0.5) * h;
    if (fewCells) {
      pen.text(x, y + 4, scoreText(mean(point, options.metric)), {
        size: 11,
        anchor: "middle",
        colour: readable(colours[k]!),
      });
    }
    if (options.isChosen(point))
      fewCells
        ? pen.rect(x - w / 2 + 2, y - h / 2 + 2, w - 4, h - 4, { stroke: pen.theme.colours[1]!, width: 2.5, radius: 4 })
        : pen.circle(x, y, Math.max(4, Math.min(10, 0.6 * Math.min(w, h))), { stroke: pen.theme.colours[1]!, width: 2.5 });
  });
  const spotOf = (k: number): Spot | null => {
    const point = grid[k];
    if (!point) return null;
    const x = frame.left + ((k % xs.length) + 0.5) * w;
    const y = frame.top + (Math.floor(k / xs.length) + 0.5) * h;
    const spot: Spot = { x, y, radius: 4, text: heatText(point, options.metric) };
    if (options.pick) spot.pick = () => options.pick!(point);
    return spot;
  };
  if (grid.length <= 2000)
    for (let k = 0; k < grid.length; ++k) {
      const spot = spotOf(k);
      if (spot) pen.spots.push(spot);
    }
  pen.finder = (x, y) => {
    const c = Math.floor((x - frame.left) / w);
    const r = Math.floor((y - frame.top) / h);
    return c >= 0 && r >= 0 && c < xs.length && r < ys.length ? spotOf(r * xs.length + c) : null;
  };
}

function labels(pen: Pen, values: Value[], place: (k: number) => number, step: number, axis: "x" | "y"): void {
  const room = axis === "x" ? 58 : 18;
  const every = Math.max(1, Math.ceil(room / step));
  values.forEach((value, k) => {
    if (k % every !== 0) return;
    const text = typeof value === "number" ? settingText(Number(value.toPrecision(3))) : value;
    if (axis === "x") pen.text(place(k), pen.height - frame.bottom + 16, text, { colour: pen.theme.soft, size: 11, anchor: "middle" });
    else pen.text(frame.left - 8, place(k) + 4, text, { colour: pen.theme.soft, size: 11, anchor: "end" });
  });
}

/** The border of the region within one standard error of the best. */
function outline(
  pen: Pen,
  grid: (ScoredPoint | undefined)[],
  columns: number,
  w: number,
  h: number,
  inside: (point: ScoredPoint) => boolean,
): void {
  const style = { stroke: pen.theme.ink, width: 1.8 };
  const isIn = (c: number, r: number) => {
    const point = c >= 0 && c < columns ? grid[r * columns + c] : undefined;
    return !!point && inside(point);
  };
  const lines = grid.length / columns;
  for (let r = 0; r < lines; ++r)
    for (let c = 0; c < columns; ++c) {
      if (!isIn(c, r)) continue;
      const x = frame.left + c * w;
      const y = frame.top + r * h;
      if (!isIn(c - 1, r)) pen.line(x, y, x, y + h, style);
      if (!isIn(c + 1, r)) pen.line(x + w, y, x + w, y + h, style);
      if (!isIn(c, r - 1)) pen.line(x, y, x + w, y, style);
      if (!isIn(c, r + 1)) pen.line(x, y + h, x + w, y + h, style);
    }
}

function drawDots(pen: Pen, options: HeatOptions, shown: ScoredPoint[], share: (point: ScoredPoint) => number): void {
  const numbers = (axis: string) => shown.map((point) => Number(point.values[axis]));
  const x = parameterAxis(numbers(options.x), frame.left + 14, pen.width - frame.right - 14);
  const y = parameterAxis(numbers(options.y), pen.height - frame.bottom - 14, frame.top + 14);
  pen.bottomAxis(x, frame.top, pen.height - frame.bottom, logTitle(options.x, x));
  pen.leftAxis(y, frame.left, pen.width - frame.right, logTitle(options.y, y));
  const radius = shown.length > 3000 ? 2.5 : shown.length > 300 ? 4 : 7;
  const ordered = [...shown].sort((a, b) => share(a) - share(b));
  for (const point of ordered) {
    const px = at(x, Number(point.values[options.x]));
    const py = at(y, Number(point.values[options.y]));
    pen.circle(px, py, radius, { fill: shade(pen.theme, share(point)), stroke: options.inRegion(point) ? pen.theme.ink : pen.theme.rule, width: 1.2 });
    if (options.isChosen(point)) pen.circle(px, py, radius + 4, { stroke: pen.theme.colours[1]!, width: 2.5 });
    pen.spot(px, py, radius, heatText(point, options.metric), options.pick && (() => options.pick!(point)));
  }
}
