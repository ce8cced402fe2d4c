// Bars with names at the left, histograms, and intervals.
import { brief, grouped, percent } from "../lib/format";
import { short, type Pen } from "./pen";
import { at, extent, linear } from "./scale";

const names = 150;
export const lineHeight = 26;

export interface Bar {
  name: string;
  value: number;
  label: string;
  colour?: number;
  /** A whisker. */
  low?: number | undefined;
  high?: number | undefined;
  pick?: () => void;
}

export const barsHeight = (count: number): number => count * lineHeight + 34;

/** Bars from 0 to both sides. */
export function drawBars(pen: Pen, bars: Bar[], axisTitle: string, mark?: { value: number; text: string }): void {
  const [low, high] = extent([0, ...bars.flatMap((bar) => [bar.value, bar.low ?? bar.value, bar.high ?? bar.value]), mark?.value ?? 0]);
  const x = linear(low, high, names, pen.width - 84);
  const zero = at(x, 0);
  const bottom = bars.length * lineHeight + 4;
  bars.forEach((bar, k) => {
    const y = 4 + k * lineHeight;
    const end = at(x, bar.value);
    pen.text(names - 10, y + lineHeight / 2 + 4, short(bar.name, 18), { anchor: "end" });
    pen.rect(Math.min(zero, end), y + 4, Math.abs(end - zero), lineHeight - 8, { fill: pen.theme.colours[(bar.colour ?? 0) % 8]!, radius: 3 });
    if (bar.low !== undefined && bar.high !== undefined)
      pen.line(at(x, bar.low), y + lineHeight / 2, at(x, bar.high), y + lineHeight / 2, { stroke: pen.theme.ink, width: 1.4 });
    const right = Math.max(end, bar.high === undefined ? end : at(x, bar.high), zero);
    pen.text(right + 8, y + lineHeight / 2 + 4, bar.label, { colour: pen.theme.soft, size: 11 });
    pen.spot(end, y + lineHeight / 2, 8, `${bar.name}\n${bar.label}`, bar.pick);
  });
  if (low < 0) pen.line(zero, 0, zero, bottom, { stroke: pen.theme.soft });
  if (mark) {
    pen.line(at(x, mark.value), 0, at(x, mark.value), bottom, { stroke: pen.theme.soft, dash: [4, 4] });
  }
  pen.text(names, bottom + 20, axisTitle, { colour: pen.theme.soft });
}

/** Counts over equal steps, or over named steps. */
export function drawHistogram(pen: Pen, counts: { name: string; count: number }[], xTitle: string, yTitle: string): void {
  const left = 58;
  const right = pen.width - 10;
  const bottom = pen.height - 50;
  const [, most] = extent([0, ...counts.map(({ count }) => count)]);
  const y = linear(0, Math.max(most, 1), bottom, 30);
  pen.leftAxis(y, left, right, yTitle);
  const width = (right - left) / counts.length;
  const every = Math.max(1, Math.ceil(54 / width));
  counts.forEach(({ name, count }, k) => {
    const x = left + k * width;
    pen.rect(x + 1, at(y, count), Math.max(1, width - 2), bottom - at(y, count), { fill: pen.theme.colours[0]!, radius: 2 });
    if (k % every === 0) pen.text(x + width / 2, bottom + 16, short(name, 10), { colour: pen.theme.soft, size: 11, anchor: "middle" });
    pen.spot(x + width / 2, at(y, count), width / 2, `${name}: ${grouped(count)} ${yTitle}`);
  });
  pen.text((left + right) / 2, bottom + 34, xTitle, { colour: pen.theme.soft, anchor: "middle" });
}

/** Classes and their rows. */
export function classBars(classes: { name: string; count: number }[]): Bar[] {
  const total = classes.reduce((sum, { count }) => sum + count, 0);
  return classes.map(({ name, count }, k) => ({
    name,
    value: count,
    label: `${grouped(count)} · ${percent(count / total)}`,
    colour: classes.length <= 16 ? k : 0,
  }));
}

export interface Interval {
  name: string;
  value: number;
  low: number;
  high: number;
  colour: number;
}

/** A dot with its interval in each line. */
export function drawIntervals(pen: Pen, list: Interval[], title: string, zero?: number): void {
  const [low, high] = extent([...list.flatMap((one) => [one.low, one.high, one.value]), ...(zero === undefined ? [] : [zero])]);
  const room = (high - low) * 0.06 || 0.01;
  const x = linear(low - room, high + room, names, pen.width - 20);
  const bottom = list.length * lineHeight + 8;
  pen.bottomAxis(x, 4, bottom, title);
  if (zero !== undefined) pen.line(at(x, zero), 4, at(x, zero), bottom, { stroke: pen.theme.soft, dash: [4, 4] });
  list.forEach((one, k) => {
    const y = 8 + (k + 0.5) * lineHeight;
    const colour = pen.theme.colours[one.colour % 8]!;
    pen.text(names - 10, y + 4, short(one.name, 18), { anchor: "end" });
    pen.line(at(x, one.low), y, at(x, one.high), y, { stroke: colour, width: 2.5 });
    pen.circle(at(x, one.value), y, 5, { fill: colour });
    pen.spot(at(x, one.value), y, 8, `${one.name}: ${brief(one.value)}, 95 % interval ${brief(one.low)} to ${brief(one.high)}`);
  });
}
