// True against predicted classes; shades and shares are of each true class.
import { grouped, percent, plural } from "../lib/format";
import { mix, short, type Pen } from "./pen";

const left = 130;
const head = 48;

export const confusionHeight = (classes: number, width: number): number => head + classes * step(classes, width) + 14;

const step = (classes: number, width: number) => Math.min((width - left - 8) / classes, classes < 4 ? 120 : 64);

export function drawConfusion(pen: Pen, classes: string[], counts: number[]): void {
  const n = classes.length;
  const size = step(n, pen.width);
  pen.text(left, 14, "predicted", { colour: pen.theme.soft });
  pen.text(left - 10, 14, "true", { colour: pen.theme.soft, anchor: "end" });
  const every = Math.max(1, Math.ceil(12 / size));
  for (let t = 0; t < n; ++t) {
    const row = counts.slice(t * n, (t + 1) * n);
    const total = row.reduce((a, b) => a + b, 0);
    const y = head + t * size;
    if (t % every === 0) pen.text(left - 10, y + size / 2 + 4, short(classes[t]!, 17), { anchor: "end", size: size < 14 ? 10 : 12 });
    row.forEach((count, p) => {
      const x = left + p * size;
      const share = total > 0 ? count / total : 0;
      const name = short(classes[p]!, Math.max(3, Math.floor(size / 8)));
      if (t === 0 && (size > 40 || p % Math.max(every, 3) === 0)) pen.text(x + size / 2, head - 8, name, { anchor: "middle", size: size > 40 ? 12 : 10 });
      const colour = pen.theme.colours[t === p ? 0 : 1]!;
      if (count > 0 || n <= 24)
        pen.rect(x + 1, y + 1, size - 2, size - 2, { fill: mix(pen.theme.card, colour, 0.05 + 0.45 * share), radius: size > 30 ? 6 : 0 });
      if (size > 26) pen.text(x + size / 2, y + size / 2 + (size > 38 ? 0 : 4), grouped(count), { anchor: "middle", bold: true });
      if (size > 38) pen.text(x + size / 2, y + size / 2 + 15, percent(share), { anchor: "middle", size: 11 });
      if (n <= 24 || count > 0)
        pen.spot(x + size / 2, y + size / 2, size / 2, `${classes[t]} predicted as ${classes[p]}\n${grouped(count)} of ${plural(total, "row")}, ${percent(share)}`);
    });
  }
}

/** Area under the ROC curve of scores, and rates at thresholds. */
export interface Scored {
  score: number;
  positive: boolean;
}

export interface Rates {
  tp: number;
  fp: number;
  tn: number;
  fn: number;
}

/** Rows are positive from the threshold on. */
export function ratesAt(rows: Scored[], threshold: number): Rates {
  const rates = { tp: 0, fp: 0, tn: 0, fn: 0 };
  for (const { score, positive } of rows) {
    if (score >= threshold) positive ? ++rates.tp : ++rates.fp;
    else positive ? ++rates.fn : ++rates.tn;
  }
  return rates;
}

/** Cost of errors over thresholds between the scores; the cheapest first. */
export function costCurve(rows: Scored[], fp: number, fn: number): { thresholds: number[]; costs: number[]; best: number } {
  const sorted = [...rows].sort((a, b) => a.score - b.score);
  let cost = sorted.reduce((sum, row) => sum + (row.positive ? 0 : fp), 0); // everything is predicted positive
  const thresholds: number[] = [];
  const costs: number[] = [];
  let best = 0;
  for (let k = 0; k <= sorted.length; ++k) {
    const above = sorted[k]?.score ?? sorted[k - 1]!.score * (1 + 1e-9) + 1e-9;
    if (k === 0 || k === sorted.length || sorted[k - 1]!.score !== sorted[k]!.score) {
      thresholds.push(above);
      costs.push(cost);
      if (cost < costs[best]!) best = costs.length - 1;
    }
    if (k < sorted.length) cost += sorted[k]!.positive ? fn : -fp;
  }
  return { thresholds, costs, best };
}
