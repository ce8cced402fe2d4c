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
const shades = 50;

/** Points as they are drawn, worked out once for each set of points: colours are shades, 1 the worst and `shades` + 1 the best. */
export interface HeatMap {
  options: HeatOptions;
  points: ScoredPoint[]; // those with a score
  shade: Uint8Array;
  inRegion: Uint8Array;
  chosen: number[];
  low: number;
  high: number;
  /** If points share values of both settings: the point of each cell, line by line from the top; -1: none. */
  grid: null | { xs: Value[]; ys: Value[]; cells: Int32Array };
}

export function heatMap(options: HeatOptions): HeatMap {
  const points = options.points.filter((point) => Number.isFinite(mean(point, options.metric)));
  const values = Float64Array.from(points, (point) => options.sign * mean(point, options.metric));
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const map: HeatMap = {
    options,
    points,
    shade: Uint8Array.from(values, (value) => 1 + Math.round(high > low ? (shades * (value - low)) / (high - low) : shades)),
    inRegion: Uint8Array.from(points, (point) => (options.inRegion(point) ? 1 : 0)),
    chosen: points.flatMap((point, k) => (options.isChosen(point) ? [k] : [])),
    low: options.sign * low,
    high: options.sign * high,
    grid: null,
  };
  if (isGrid(points, options.x, options.y)) map.grid = gridOf(map, values);
  return map;
}

/** Of several points of one cell (they differ in other settings) the best. */
function gridOf({ options, points }: HeatMap, values: Float64Array): HeatMap["grid"] {
  const xs = sorted(points.map((point) => point.values[options.x]!));
  const ys = sorted(points.map((point) => point.values[options.y]!)).reverse();
  const column = new Map(xs.map((value, k) => [value, k]));
  const line = new Map(ys.map((value, k) => [value, k]));
  const cells = new Int32Array(xs.length * ys.length).fill(-1);
  points.forEach((point, k) => {
    const cell = line.get(point.values[options.y]!)! * xs.length + column.get(point.values[options.x]!)!;
    const other = cells[cell]!;
    if (other < 0 || values[k]! > values[other]!) cells[cell] = k;
  });
  return { xs, ys, cells };
}

const palette = (pen: Pen): string[] => Array.from({ length: shades + 2 }, (_, k) => (k === 0 ? "" : shade(pen.theme, (k - 1) / shades)));

export function drawHeat(pen: Pen, map: HeatMap): void {
  if (map.points.length === 0) {
    pen.text(pen.width / 2, pen.height / 2, "No scores yet", { colour: pen.theme.soft, anchor: "middle" });
    return;
  }
  if (map.grid) drawCells(pen, map, map.grid);
  else drawDots(pen, map);
  drawScale(pen, scoreText(map.low), scoreText(map.high));
}

function spotOf({ options, points }: HeatMap, k: number, x: number, y: number, radius: number): Spot {
  const point = points[k]!;
  const spot: Spot = { x, y, radius, text: heatText(point, options.metric) };
  if (options.pick) spot.pick = () => options.pick!(point);
  return spot;
}

function drawScale(pen: Pen, low: string, high: string): void {
  const y = pen.height - 16;
  const x = frame.left + 60;
  pen.text(x - 6, y + 9, low, { colour: pen.theme.soft, size: 11, anchor: "end" });
  for (let k = 0; k <= 10; ++k) pen.rect(x + 14 * k, y, 14.3, 10, { fill: shade(pen.theme, k / 10) });
  pen.text(x + 160, y + 9, high, { colour: pen.theme.soft, size: 11 });
}

function drawCells(pen: Pen, map: HeatMap, { xs, ys, cells }: NonNullable<HeatMap["grid"]>): void {
  const { options } = map;
  const colours = palette(pen);
  const width = pen.width - frame.left - frame.right;
  const height = pen.height - frame.top - frame.bottom;
  const w = width / xs.length;
  const h = height / ys.length;
  pen.cells(frame.left, frame.top, width, height, xs.length, Uint8Array.from(cells, (k) => (k < 0 ? 0 : map.shade[k]!)), colours);
  if (w > 9 && h > 9) {
    const lines: number[] = [];
    for (let k = 1; k < xs.length; ++k) lines.push(frame.left + k * w, frame.top, frame.left + k * w, frame.top + height);
    for (let k = 1; k < ys.length; ++k) lines.push(frame.left, frame.top + k * h, frame.left + width, frame.top + k * h);
    pen.segments(lines, { stroke: pen.theme.card });
  }
  labels(pen, xs, (k) => frame.left + (k + 0.5) * w, w, "x");
  labels(pen, ys, (k) => frame.top + (k + 0.5) * h, h, "y");
  pen.text(frame.left + width / 2, frame.top + height + 34, axisTitle(options.x), { colour: pen.theme.soft, anchor: "middle" });
  pen.text(8, frame.top - 12, axisTitle(options.y), { colour: pen.theme.soft });
  pen.segments(outline(map, cells, xs.length, w, h), { stroke: pen.theme.ink, width: 1.8 });
  const middle = (cell: number) => [frame.left + ((cell % xs.length) + 0.5) * w, frame.top + (Math.floor(cell / xs.length) + 0.5) * h] as const;
  const fewCells = w > 44 && h > 20 && cells.length < 400;
  if (fewCells)
    cells.forEach((k, cell) => {
      if (k < 0) return;
      const [x, y] = middle(cell);
      pen.text(x, y + 4, scoreText(mean(map.points[k]!, options.metric)), { size: 11, anchor: "middle", colour: readable(colours[map.shade[k]!]!) });
    });
  for (const k of map.chosen) {
    const cell = cells.indexOf(k);
    if (cell < 0) continue;
    const [x, y] = middle(cell);
    if (fewCells) pen.rect(x - w / 2 + 2, y - h / 2 + 2, w - 4, h - 4, { stroke: pen.theme.colours[1]!, width: 2.5, radius: 4 });
    else pen.circle(x, y, Math.max(4, Math.min(10, 0.6 * Math.min(w, h))), { stroke: pen.theme.colours[1]!, width: 2.5 });
  }
  const spotAt = (cell: number): Spot | null => (cells[cell]! < 0 ? null : spotOf(map, cells[cell]!, ...middle(cell), 4));
  if (cells.length <= 2000) pen.spots.push(...Array.from(cells.keys(), spotAt).filter((spot) => spot !== null));
  pen.finder = (x, y) => {
    const c = Math.floor((x - frame.left) / w);
    const r = Math.floor((y - frame.top) / h);
    return c >= 0 && r >= 0 && c < xs.length && r < ys.length ? spotAt(r * xs.length + c) : null;
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

/** The border of the region within one standard error of the best, as ends of lines. */
function outline({ inRegion }: HeatMap, cells: Int32Array, columns: number, w: number, h: number): number[] {
  const isIn = (c: number, r: number) => {
    const k = c >= 0 && c < columns ? cells[r * columns + c] : undefined;
    return k !== undefined && k >= 0 && inRegion[k] === 1;
  };
  const ends: number[] = [];
  const lines = cells.length / columns;
  for (let r = 0; r < lines; ++r)
    for (let c = 0; c < columns; ++c) {
      if (!isIn(c, r)) continue;
      const x = frame.left + c * w;
      const y = frame.top + r * h;
      if (!isIn(c - 1, r)) ends.push(x, y, x, y + h);
      if (!isIn(c + 1, r)) ends.push(x + w, y, x + w, y + h);
      if (!isIn(c, r - 1)) ends.push(x, y, x + w, y);
      if (!isIn(c, r + 1)) ends.push(x, y + h, x + w, y + h);
    }
  return ends;
}

const bucket = 12; // pixels

function drawDots(pen: Pen, map: HeatMap): void {
  const { options, points } = map;
  const numbers = (axis: string) => points.map((point) => Number(point.values[axis]));
  const x = parameterAxis(numbers(options.x), frame.left + 14, pen.width - frame.right - 14);
  const y = parameterAxis(numbers(options.y), pen.height - frame.bottom - 14, frame.top + 14);
  pen.bottomAxis(x, frame.top, pen.height - frame.bottom, logTitle(options.x, x));
  pen.leftAxis(y, frame.left, pen.width - frame.right, logTitle(options.y, y));
  const radius = points.length > 3000 ? 2.5 : points.length > 300 ? 4 : 7;
  const places = points.map((point) => [at(x, Number(point.values[options.x])), at(y, Number(point.values[options.y]))] as const);
  // The better, the later, so that good ones stay in view.
  const colours = palette(pen);
  const order = Uint32Array.from(points.keys()).sort((a, b) => map.shade[a]! - map.shade[b]!);
  for (let from = 0; from < order.length; ) {
    const level = map.shade[order[from]!]!;
    let to = from;
    while (to < order.length && map.shade[order[to]!] === level) ++to;
    const own = [...order.subarray(from, to)];
    for (const region of [0, 1])
      pen.circles(own.filter((k) => map.inRegion[k] === region).map((k) => places[k]!), radius, { fill: colours[level]!, stroke: region ? pen.theme.ink : pen.theme.rule, width: 1.2 });
    from = to;
  }
  for (const k of map.chosen) pen.circle(...places[k]!, radius + 4, { stroke: pen.theme.colours[1]!, width: 2.5 });
  if (points.length <= 2000) {
    pen.spots.push(...places.map((place, k) => spotOf(map, k, ...place, radius)));
    return;
  }
  const buckets = new Map<number, number[]>();
  const key = (px: number, py: number) => Math.floor(px / bucket) * 65536 + Math.floor(py / bucket);
  places.forEach(([px, py], k) => {
    const own = buckets.get(key(px, py));
    if (own) own.push(k);
    else buckets.set(key(px, py), [k]);
  });
  pen.finder = (px, py) => {
    let best = -1;
    let distance = bucket;
    for (const dx of [-bucket, 0, bucket])
      for (const dy of [-bucket, 0, bucket])
        for (const k of buckets.get(key(px + dx, py + dy)) ?? []) {
          const d = Math.hypot(places[k]![0] - px, places[k]![1] - py);
          if (d < distance) [best, distance] = [k, d];
        }
    return best < 0 ? null : spotOf(map, best, ...places[best]!, radius);
  };
}
