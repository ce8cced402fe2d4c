// A surface over two settings that is turned with the pointer or the arrow keys: quadrilaterals, the farthest drawn first.
import { axisTitle, score as scoreText, scoreTitle, settingText } from "../lib/format";
import { mean, type ScoredPoint } from "../lib/points";
import { heatText, type HeatOptions } from "./heat";
import { shade, type Pen, type XY } from "./pen";
import { at, extent, parameterAxis } from "./scale";

export interface View {
  turn: number; // about the vertical axis, radians
  tilt: number; // 0: from the side, pi/2: from above
}

export const firstView: View = { turn: 0.7, tilt: 0.55 };

export function turned(view: View, dx: number, dy: number): View {
  return { turn: view.turn + dx * 0.01, tilt: Math.min(1.5, Math.max(0.08, view.tilt + dy * 0.008)) };
}

const cells = 26;
const mostForMesh = 1500;

/** A point of the search at its place in the unit square, on scales as charts have them. */
interface Place {
  point: ScoredPoint;
  u: number;
  v: number;
  h: number; // 0: the worst, 1: the best
}

export interface Surface {
  options: HeatOptions;
  places: Place[];
  /** Heights at (cells + 1) x (cells + 1) corners, line by line. */
  mesh: number[];
  low: number;
  high: number;
}

/** Heights between the points: Shepard's mean with the fourth power of the distance, as in the report. */
function meshOf(places: Place[]): number[] {
  const step = Math.max(1, Math.ceil(places.length / mostForMesh));
  const used = places.filter((_, k) => k % step === 0);
  const mesh: number[] = [];
  for (let j = 0; j <= cells; ++j)
    for (let i = 0; i <= cells; ++i) {
      let sum = 0;
      let weights = 0;
      for (const { u, v, h } of used) {
        const square = (u - i / cells) ** 2 + (v - j / cells) ** 2 + 1e-5;
        const weight = 1 / (square * square);
        sum += weight * h;
        weights += weight;
      }
      mesh.push(sum / weights);
    }
  return mesh;
}

export function surfaceOf(options: HeatOptions): Surface {
  const shown = options.points.filter((point) => Number.isFinite(mean(point, options.metric)));
  const x = parameterAxis(shown.map((point) => Number(point.values[options.x])), 0, 1);
  const y = parameterAxis(shown.map((point) => Number(point.values[options.y])), 0, 1);
  const [low, high] = extent(shown.map((point) => options.sign * mean(point, options.metric)));
  const best = new Map<string, Place>();
  for (const point of shown) {
    const u = at(x, Number(point.values[options.x]));
    const v = at(y, Number(point.values[options.y]));
    const h = high > low ? (options.sign * mean(point, options.metric) - low) / (high - low) : 1;
    const other = best.get(`${u},${v}`);
    if (!other || h > other.h) best.set(`${u},${v}`, { point, u, v, h });
  }
  const places = [...best.values()];
  return { options, places, mesh: meshOf(places), low: options.sign * low, high: options.sign * high };
}

export function drawSurface(pen: Pen, surface: Surface, view: View): void {
  const { options, places, mesh } = surface;
  if (places.length < 3) {
    pen.text(pen.width / 2, pen.height / 2, "A surface needs three points", { colour: pen.theme.soft, anchor: "middle" });
    return;
  }
  const scale = Math.min(pen.width * 0.54, pen.height * 0.7);
  const project = (u: number, v: number, h: number): { at: XY; depth: number } => {
    const x = (u - 0.5) * Math.cos(view.turn) - (v - 0.5) * Math.sin(view.turn);
    const z = (u - 0.5) * Math.sin(view.turn) + (v - 0.5) * Math.cos(view.turn);
    return {
      at: [pen.width / 2 + x * scale, pen.height / 2 + 14 + z * Math.sin(view.tilt) * scale - (h - 0.45) * 0.55 * Math.cos(view.tilt) * scale],
      depth: z,
    };
  };
  const floor = ([[0, 0], [1, 0], [1, 1], [0, 1]] as const).map(([u, v]) => project(u, v, 0).at);
  pen.path(floor, { stroke: pen.theme.rule, width: 1.2 }, true);
  const faces: { at: XY[]; depth: number; share: number }[] = [];
  for (let j = 0; j < cells; ++j)
    for (let i = 0; i < cells; ++i) {
      const heights = [mesh[j * (cells + 1) + i]!, mesh[j * (cells + 1) + i + 1]!, mesh[(j + 1) * (cells + 1) + i + 1]!, mesh[(j + 1) * (cells + 1) + i]!];
      const corners = ([[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]] as const).map(([a, b], k) => project(a / cells, b / cells, heights[k]!));
      faces.push({
        at: corners.map((corner) => corner.at),
        depth: corners.reduce((sum, corner) => sum + corner.depth, 0) / 4,
        share: heights.reduce((a, b) => a + b, 0) / 4,
      });
    }
  faces.sort((a, b) => a.depth - b.depth);
  for (const face of faces) pen.path(face.at, { fill: shade(pen.theme, face.share), stroke: pen.theme.card, width: 0.6 }, true);
  const few = places.length <= 500;
  for (const { point, u, v, h } of places) {
    const { at: place } = project(u, v, h);
    if (few) pen.circle(place[0], place[1], 2, { fill: pen.theme.ink, opacity: 0.6 });
    if (options.isChosen(point)) pen.circle(place[0], place[1], 7, { stroke: pen.theme.colours[1]!, width: 2.5 });
    if (few) pen.spot(place[0], place[1], 3, heatText(point, options.metric));
  }
  const label = (u: number, v: number, text: string) => {
    const { at: place } = project(u, v, 0);
    pen.text(place[0], place[1] + 5, text, { colour: pen.theme.soft, size: 11, anchor: "middle" });
  };
  const ends = (axis: string) => extent(places.map(({ point }) => Number(point.values[axis]))).map((value) => settingText(Number(value.toPrecision(3))));
  const [xLow, xHigh] = ends(options.x);
  const [yLow, yHigh] = ends(options.y);
  label(0.5, 1.1, axisTitle(options.x));
  label(0.05, 1.07, xLow!);
  label(0.95, 1.07, xHigh!);
  label(1.1, 0.5, axisTitle(options.y));
  label(1.08, 0.05, yLow!);
  label(1.08, 0.93, yHigh!);
  pen.text(12, 18, `${scoreTitle(options.metric)} from ${scoreText(surface.low)} (low) to ${scoreText(surface.high)} (high)`, { colour: pen.theme.soft, size: 11 });
}
