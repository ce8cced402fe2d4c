// A surface over two settings that is turned with the pointer or the arrow keys: quadrilaterals, the farthest drawn first.
import { axisTitle, score as scoreText, scoreTitle, settingText } from "../lib/format";
import { mean, type ScoredPoint } from "../lib/points";
import { heatText, type HeatOptions } from "./heat";
import { shade, type Pen, type XY } from "./pen";

export interface View {
  turn: number; // about the vertical axis, radians
  tilt: number; // 0: from the side, pi/2: from above
}

export const firstView: View = { turn: 0.7, tilt: 0.55 };

export function turned(view: View, dx: number, dy: number): View {
  return { turn: view.turn + dx * 0.01, tilt: Math.min(1.5, Math.max(0.08, view.tilt + dy * 0.008)) };
}

export function drawSurface(pen: Pen, options: HeatOptions, view: View): void {
  const shown = options.points.filter((point) => Number.isFinite(mean(point, options.metric)));
  const numbers = (axis: string) => [...new Set(shown.map((point) => Number(point.values[axis])))].sort((a, b) => a - b);
  const xs = numbers(options.x);
  const ys = numbers(options.y);
  if (xs.length < 2 || ys.length < 2) {
    pen.text(pen.width / 2, pen.height / 2, "A surface needs two values of each setting", { colour: pen.theme.soft, anchor: "middle" });
    return;
  }
  const values = shown.map((point) => options.sign * mean(point, options.metric));
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const grid = new Map<string, ScoredPoint>();
  for (const point of shown) {
    const key = `${xs.indexOf(Number(point.values[options.x]))},${ys.indexOf(Number(point.values[options.y]))}`;
    const other = grid.get(key);
    if (!other || options.sign * mean(point, options.metric) > options.sign * mean(other, options.metric)) grid.set(key, point);
  }
  const share = (point: ScoredPoint) => (high > low ? (options.sign * mean(point, options.metric) - low) / (high - low) : 1);
  const scale = Math.min(pen.width * 0.36, pen.height * 0.52);
  const project = (u: number, v: number, h: number): { at: XY; depth: number } => {
    const a = u - 0.5;
    const b = v - 0.5;
    const x = a * Math.cos(view.turn) - b * Math.sin(view.turn);
    const z = a * Math.sin(view.turn) + b * Math.cos(view.turn);
    const y = (h - 0.4) * 0.7;
    return {
      at: [pen.width / 2 + x * scale * 1.5, pen.height / 2 + z * Math.sin(view.tilt) * scale * 1.5 - y * Math.cos(view.tilt) * scale * 1.5],
      depth: z,
    };
  };
  const u = (i: number) => i / (xs.length - 1);
  const v = (j: number) => j / (ys.length - 1);
  const corner = (i: number, j: number) => {
    const point = grid.get(`${i},${j}`);
    return point && { point, ...project(u(i), v(j), share(point)) };
  };
  const floor = [project(0, 0, 0), project(1, 0, 0), project(1, 1, 0), project(0, 1, 0)].map(({ at }) => at);
  pen.path(floor, { stroke: pen.theme.rule, width: 1.2 }, true);
  const faces: { at: XY[]; depth: number; share: number }[] = [];
  for (let i = 0; i + 1 < xs.length; ++i)
    for (let j = 0; j + 1 < ys.length; ++j) {
      const corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)].filter((c) => c !== undefined);
      if (corners.length < 3) continue;
      faces.push({
        at: corners.map((c) => c.at),
        depth: corners.reduce((sum, c) => sum + c.depth, 0) / corners.length,
        share: corners.reduce((sum, c) => sum + share(c.point), 0) / corners.length,
      });
    }
  faces.sort((a, b) => a.depth - b.depth);
  for (const face of faces) pen.path(face.at, { fill: shade(pen.theme, face.share), stroke: pen.theme.card, width: 0.8 }, true);
  for (const [key, point] of grid) {
    const [i, j] = key.split(",").map(Number) as [number, number];
    const { at } = corner(i, j)!;
    if (options.isChosen(point)) pen.circle(at[0], at[1], 6, { stroke: pen.theme.colours[1]!, width: 2.5 });
    pen.spot(at[0], at[1], 3, heatText(point, options.metric));
  }
  const label = (a: number, b: number, text: string) => {
    const { at } = project(a, b, 0);
    pen.text(at[0], at[1] + 14, text, { colour: pen.theme.soft, size: 11, anchor: "middle" });
  };
  label(0.5, 1.14, axisTitle(options.x));
  label(1.14, 0.5, axisTitle(options.y));
  label(0, 1.06, settingText(xs[0]));
  label(1, 1.06, settingText(xs.at(-1)));
  label(1.06, 0, settingText(ys[0]));
  label(1.06, 0.97, settingText(ys.at(-1)));
  pen.text(12, 18, `${scoreTitle(options.metric)} from ${scoreText(options.sign * low)} (low) to ${scoreText(options.sign * high)} (high)`, { colour: pen.theme.soft, size: 11 });
}
