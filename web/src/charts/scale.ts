// From data to pixels, with round ticks (as src/report/svg.cpp).
import { axisTitle, tick } from "../lib/format";

export interface Axis {
  low: number;
  high: number;
  first: number;
  last: number;
  log: boolean;
}

export function at(axis: Axis, value: number): number {
  const { low, high, first, last, log } = axis;
  if (!(high > low)) return (first + last) / 2;
  const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
  return first + Math.min(1, Math.max(0, share)) * (last - first);
}

/** The value at a pixel. */
export function inverse(axis: Axis, pixel: number): number {
  const share = (pixel - axis.first) / (axis.last - axis.first);
  return axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + share * (axis.high - axis.low);
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

function logTicks(low: number, high: number, count: number): number[] {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const step = Math.max(1, Math.floor((to - from) / Math.max(count, 1)));
  const few = Math.log10(high / low) < 2;
  const ticks: number[] = [];
  for (let exponent = from; exponent <= to; exponent += step)
    for (const lead of [1, 2, 5]) {
      const value = Number(`${lead}e${exponent}`);
      if ((lead === 1 || few) && value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push(value);
    }
  return ticks;
}

export function ticks(axis: Axis, count: number): number[] {
  const { low, high } = axis;
  if (!(high > low)) return [low];
  if (axis.log) return logTicks(low, high, count);
  let step = roundStep((high - low) / Math.max(count, 1));
  if (Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) < 1) step = roundStep(step / 3); // a single tick says little
  const begin = Math.ceil(low / step - 1e-9);
  const steps = Math.floor(high / step + 1e-9) - begin;
  if (!(steps >= 0 && steps <= 10 * Math.max(count, 1))) return [low, high];
  return Array.from({ length: steps + 1 }, (_, k) => (begin + k) * step + 0);
}

export function linear(low: number, high: number, first: number, last: number): Axis {
  return { low, high, first, last, log: false };
}

/** Of parameters: logarithmic if all are above 0 and span more than a factor of 20. A single value stands in the middle. */
export function parameterAxis(values: number[], first: number, last: number): Axis {
  let [low, high] = extent(values);
  const log = low > 0 && (high / low > 20 || low === high);
  if (low === high) {
    const reach = low === 0 ? 1 : Math.abs(low);
    low = log ? low / 10 : low - reach;
    high = log ? high * 10 : high + reach;
  }
  return { low, high, first, last, log };
}

export function extent(values: Iterable<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** An axis of scores with a little room above and below. */
export function scoreAxis(values: Iterable<number>, bottom: number, top: number): Axis {
  const [low, high] = extent(values);
  const room = high > low ? (high - low) / 20 : 0.025;
  return linear(low - room, high + room, bottom, top);
}

export function logTitle(name: string, axis: Axis): string {
  return axisTitle(name) + (axis.log ? " (log scale)" : "");
}

export { tick };
