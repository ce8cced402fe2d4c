// Points of a search, from results.json or from the events of one that runs: settings, scores, sizes.
import type { LiveModel, Metric, Results, Summary } from "./types";

export type Value = number | string;

export interface ScoredPoint {
  values: Record<string, Value>;
  scores: Record<string, Summary & { by_split?: (number | null)[] }>;
  size?: number;
}

export interface Points {
  list: ScoredPoint[];
  metrics: string[];
  /** Settings in the order of the results; those of one value among them. */
  axes: string[];
  sizeName: string | null;
}

const isSummary = (value: unknown): value is Summary => typeof value === "object" && value !== null && "mean" in value;
const sizeNames = new Set(["support_vectors", "nonzeros"]);
const sizeTitles: Record<string, string> = { support_vectors: "support vectors", nonzeros: "features with a weight" };

export const sizeTitle = (name: string): string => sizeTitles[name] ?? name.replace(/_/g, " ");

/** From `points` of results.json; a study has one score, under the name `score`. */
export function pointsOf(results: Results): Points {
  const study = results.stability?.points;
  const rows = (study ?? results.points ?? []) as Record<string, unknown>[];
  const list: ScoredPoint[] = [];
  const axes: string[] = [];
  let sizeName: string | null = null;
  const summary = new Set(["mean", "standard_deviation", "standard_error", "splits"]);
  for (const row of rows) {
    const point: ScoredPoint = { values: {}, scores: {} };
    if (study) point.scores[results.score] = row as unknown as Summary;
    for (const [key, value] of Object.entries(row)) {
      if (study && summary.has(key)) continue;
      if (isSummary(value)) point.scores[key] = value;
      else if (sizeNames.has(key)) {
        point.size = value as number;
        sizeName = key;
      } else if (typeof value === "number" || typeof value === "string") {
        point.values[key] = value;
        if (!axes.includes(key)) axes.push(key);
      }
    }
    list.push(point);
  }
  return { list, axes, sizeName, metrics: list[0] ? Object.keys(list[0].scores) : [] };
}

/** Mean, standard deviation (of a sample) and standard error of what is known so far; one value has no spread. */
export function summarise(values: (number | null)[]): Summary {
  const known = values.filter((value): value is number => value != null && Number.isFinite(value));
  const n = known.length;
  if (n === 0) return { mean: null, standard_deviation: null, standard_error: null, splits: 0 };
  const mean = known.reduce((a, b) => a + b, 0) / n;
  if (n === 1) return { mean, standard_deviation: null, standard_error: null, splits: 1 };
  const deviation = Math.sqrt(known.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1));
  return { mean, standard_deviation: deviation, standard_error: deviation / Math.sqrt(n), splits: n };
}

/** Wilson's 95 % interval of a share of n. */
export function wilson(share: number, n: number): [number, number] {
  const z = 1.96;
  const centre = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return [Math.max(0, centre - reach), Math.min(1, centre + reach)];
}

/** Collects models of a running search as they are scored. */
export class LivePoints {
  private readonly points = new Map<string, ScoredPoint & { sizes: number[] }>();
  private readonly axes: string[] = [];
  private readonly seen = new Set<string>();
  outer: LiveModel[] = [];
  models = 0;

  add(model: LiveModel): void {
    const name = JSON.stringify(Object.entries(model.point).sort());
    const key = `${model.level}/${model.split}/${name}`;
    if (this.seen.has(key)) return; // a connection that broke sends again
    this.seen.add(key);
    ++this.models;
    if (model.split < 0) this.outer.push(model);
    if (model.level !== 0 || model.split < 0) return;
    let point = this.points.get(name);
    if (!point) {
      point = { values: model.point, scores: {}, sizes: [] };
      this.points.set(name, point);
      for (const axis of Object.keys(model.point)) if (!this.axes.includes(axis)) this.axes.push(axis);
    }
    for (const [metric, value] of Object.entries(model.scores)) {
      const by = point.scores[metric]?.by_split ?? [];
      by[model.split] = value;
      point.scores[metric] = { ...summarise(by), by_split: by };
    }
    if (model.size != null && model.size >= 0) point.sizes.push(model.size);
  }

  get(): Points {
    const list = [...this.points.values()];
    const sized = list.some((point) => point.sizes.length > 0);
    for (const point of list)
      if (point.sizes.length > 0) point.size = point.sizes.reduce((a, b) => a + b, 0) / point.sizes.length;
    return {
      list,
      axes: [...this.axes],
      metrics: list[0] ? Object.keys(list[0].scores) : [],
      sizeName: sized ? "size" : null,
    };
  }
}

export function mean(point: ScoredPoint, metric: string): number {
  return point.scores[metric]?.mean ?? NaN;
}

/** 1 if larger is better, else -1. */
export function direction(metrics: Metric[], name: string): 1 | -1 {
  return metrics.find((metric) => metric.name === name)?.larger_is_better === false ? -1 : 1;
}

export function bestOf(points: ScoredPoint[], metric: string, sign: 1 | -1): ScoredPoint | null {
  let best: ScoredPoint | null = null;
  const most = points.reduce((largest, point) => Math.max(largest, point.scores[metric]?.splits ?? 0), 0);
  for (const point of points) {
    if ((point.scores[metric]?.splits ?? 0) < most) continue; // scored on fewer splits
    if (Number.isFinite(mean(point, metric)) && (!best || sign * mean(point, metric) > sign * mean(best, metric))) best = point;
  }
  return best;
}

/** Points within one standard error of the best mean. */
export function nearBest(points: ScoredPoint[], metric: string, sign: 1 | -1): (point: ScoredPoint) => boolean {
  const best = bestOf(points, metric, sign);
  if (!best) return () => false;
  const bar = sign * mean(best, metric) - (best.scores[metric]?.standard_error ?? 0);
  return (point) => sign * mean(point, metric) >= bar;
}

/** Settings with more than one value, those with the most values first. */
export function varying(points: ScoredPoint[], axes: string[]): string[] {
  const counts = axes.map((axis) => ({ axis, count: new Set(points.map((point) => point.values[axis])).size }));
  return counts
    .filter(({ count }) => count > 1)
    .sort((a, b) => b.count - a.count)
    .map(({ axis }) => axis);
}

export const isNumeric = (points: ScoredPoint[], axis: string): boolean =>
  points.every((point) => point.values[axis] === undefined || typeof point.values[axis] === "number");

export function same(point: ScoredPoint, values: Record<string, unknown> | undefined): boolean {
  return !!values && Object.entries(point.values).every(([key, value]) => values[key] === value);
}

export function pointText(values: Record<string, Value>, format: (value: Value) => string, title: (name: string) => string): string {
  return Object.entries(values)
    .map(([key, value]) => `${title(key)} = ${format(value)}`)
    .join(", ");
}
