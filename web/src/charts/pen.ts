// One drawing serves the screen, PNG (both canvas) and SVG. Charts draw with a pen and never ask which it is.
import type { Theme } from "../lib/theme";
import { at, tick, ticks, type Axis } from "./scale";

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  opacity?: number;
  radius?: number;
}

export interface TextStyle {
  colour?: string;
  size?: number;
  anchor?: "start" | "middle" | "end";
  bold?: boolean;
  turn?: boolean;
}

/** Shown where the pointer rests or the arrow keys lead; the line is read aloud. */
export interface Spot {
  x: number;
  y: number;
  radius: number;
  text: string;
  pick?: () => void;
}

export type XY = readonly [number, number];

export const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';

export abstract class Pen {
  spots: Spot[] = [];
  /** For charts with too many marks for a list of spots. */
  finder: ((x: number, y: number) => Spot | null) | null = null;

  constructor(
    readonly width: number,
    readonly height: number,
    readonly theme: Theme,
  ) {}

  abstract rect(x: number, y: number, width: number, height: number, style: Style): void;
  abstract path(points: readonly XY[], style: Style, closed?: boolean): void;
  abstract circle(x: number, y: number, radius: number, style: Style): void;
  abstract text(x: number, y: number, text: string, style?: TextStyle): void;
  abstract circles(places: readonly XY[], radius: number, style: Style): void;
  /** Lines that are not connected: x and y of one end, then of the other. */
  abstract segments(ends: number[], style: Style): void;
  /** Cells of a grid, line by line, as places in a palette of #rrggbb; a colour of "" leaves a cell out. */
  abstract cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint8Array, palette: string[]): void;

  line(x1: number, y1: number, x2: number, y2: number, style: Style): void {
    this.path([[x1, y1], [x2, y2]], style);
  }

  /** Grid lines across top .. bottom with numbers below, and a title under them. */
  bottomAxis(axis: Axis, top: number, bottom: number, title: string): void {
    const { grid, soft } = this.theme;
    for (const value of ticks(axis, Math.max(1, Math.floor(Math.abs(axis.last - axis.first) / 70)))) {
      const x = at(axis, value);
      this.line(x, top, x, bottom, { stroke: grid });
      this.text(x, bottom + 16, tick(value), { colour: soft, size: 11, anchor: "middle" });
    }
    this.text((axis.first + axis.last) / 2, bottom + 34, title, { colour: soft, anchor: "middle" });
  }

  /** Grid lines across left .. right with numbers to the left, and a title on top. */
  leftAxis(axis: Axis, left: number, right: number, title: string): void {
    const { grid, soft } = this.theme;
    for (const value of ticks(axis, Math.max(1, Math.floor(Math.abs(axis.last - axis.first) / 45)))) {
      const y = at(axis, value);
      this.line(left, y, right, y, { stroke: grid });
      this.text(left - 8, y + 4, tick(value), { colour: soft, size: 11, anchor: "end" });
    }
    this.text(Math.max(2, left - 44), Math.min(axis.first, axis.last) - 12, title, { colour: soft });
  }

  spot(x: number, y: number, radius: number, text: string, pick?: () => void): void {
    this.spots.push(pick ? { x, y, radius, text, pick } : { x, y, radius, text });
  }

  band(upper: readonly XY[], lower: readonly XY[], style: Style): void {
    this.path([...upper, ...[...lower].reverse()], style, true);
  }
}

export class CanvasPen extends Pen {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    width: number,
    height: number,
    theme: Theme,
  ) {
    super(width, height, theme);
  }

  private finish(style: Style): void {
    const c = this.context;
    c.globalAlpha = style.opacity ?? 1;
    if (style.fill) {
      c.fillStyle = style.fill;
      c.fill();
    }
    if (style.stroke) {
      c.strokeStyle = style.stroke;
      c.lineWidth = style.width ?? 1;
      c.setLineDash(style.dash ?? []);
      c.lineJoin = "round";
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  rect(x: number, y: number, width: number, height: number, style: Style): void {
    this.context.beginPath();
    if (style.radius) this.context.roundRect(x, y, Math.max(0, width), Math.max(0, height), style.radius);
    else this.context.rect(x, y, Math.max(0, width), Math.max(0, height));
    this.finish(style);
  }

  path(points: readonly XY[], style: Style, closed = false): void {
    const c = this.context;
    c.beginPath();
    points.forEach(([x, y], k) => (k === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    if (closed) c.closePath();
    this.finish(style);
  }

  circle(x: number, y: number, radius: number, style: Style): void {
    this.circles([[x, y]], radius, style);
  }

  circles(places: readonly XY[], radius: number, style: Style): void {
    const c = this.context;
    c.beginPath();
    for (const [x, y] of places) {
      c.moveTo(x + radius, y);
      c.arc(x, y, radius, 0, 2 * Math.PI);
    }
    this.finish(style);
  }

  segments(ends: number[], style: Style): void {
    const c = this.context;
    c.beginPath();
    for (let k = 0; k < ends.length; k += 4) {
      c.moveTo(ends[k]!, ends[k + 1]!);
      c.lineTo(ends[k + 2]!, ends[k + 3]!);
    }
    this.finish(style);
  }

  text(x: number, y: number, text: string, style: TextStyle = {}): void {
    const c = this.context;
    c.font = `${style.bold ? "600 " : ""}${style.size ?? 12}px ${fontFamily}`;
    c.fillStyle = style.colour ?? this.theme.ink;
    c.textAlign = style.anchor === "middle" ? "center" : style.anchor === "end" ? "right" : "left";
    if (!style.turn) return c.fillText(text, x, y);
    c.save();
    c.translate(x, y);
    c.rotate(-Math.PI / 2);
    c.fillText(text, 0, 0);
    c.restore();
  }

  cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint8Array, palette: string[]): void {
    const c = this.context;
    const smooth = c.imageSmoothingEnabled;
    c.imageSmoothingEnabled = false;
    c.drawImage(cellImage(columns, cells, palette), x, y, width, height);
    c.imageSmoothingEnabled = smooth;
  }
}

/** One pixel for each cell: a hundred thousand cells are one copy. */
function cellImage(columns: number, cells: Uint8Array, palette: string[]): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = cells.length / columns;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(canvas.width, canvas.height);
  const words = new Uint32Array(image.data.buffer);
  const known = Uint32Array.from(palette, (colour) => {
    const rgb = parseInt(colour.slice(1), 16);
    return colour === "" ? 0 : (255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  });
  for (let k = 0; k < cells.length; ++k) words[k] = known[cells[k]!]!;
  context.putImageData(image, 0, 0);
  return canvas;
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : "&quot;"));
const round = (value: number) => String(Math.round(value * 10) / 10);

export class SvgPen extends Pen {
  private body = "";

  private attributes(style: Style): string {
    let text = ` fill="${style.fill ?? "none"}"`;
    if (style.stroke) text += ` stroke="${style.stroke}" stroke-width="${style.width ?? 1}"`;
    if (style.dash?.length) text += ` stroke-dasharray="${style.dash.join(" ")}"`;
    if (style.opacity !== undefined && style.opacity < 1) text += ` opacity="${style.opacity}"`;
    return text;
  }

  rect(x: number, y: number, width: number, height: number, style: Style): void {
    const radius = style.radius ? ` rx="${style.radius}"` : "";
    this.body += `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, width))}" height="${round(
      Math.max(0, height),
    )}"${radius}${this.attributes(style)}/>\n`;
  }

  path(points: readonly XY[], style: Style, closed = false): void {
    const data = points.map(([x, y], k) => `${k === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
    this.body += `<path d="${data}${closed ? "Z" : ""}"${this.attributes(style)}/>\n`;
  }

  circle(x: number, y: number, radius: number, style: Style): void {
    this.body += `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}"${this.attributes(style)}/>\n`;
  }

  text(x: number, y: number, text: string, style: TextStyle = {}): void {
    const turn = style.turn ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : "";
    this.body += `<text x="${round(x)}" y="${round(y)}" font-size="${style.size ?? 12}"${
      style.bold ? ' font-weight="600"' : ""
    } fill="${style.colour ?? this.theme.ink}" text-anchor="${style.anchor ?? "start"}"${turn}>${escaped(text)}</text>\n`;
  }

  circles(places: readonly XY[], radius: number, style: Style): void {
    for (const [x, y] of places) this.circle(x, y, radius, style);
  }

  segments(ends: number[], style: Style): void {
    let data = "";
    for (let k = 0; k < ends.length; k += 4) data += `M${round(ends[k]!)} ${round(ends[k + 1]!)}L${round(ends[k + 2]!)} ${round(ends[k + 3]!)}`;
    if (data) this.body += `<path d="${data}"${this.attributes(style)}/>\n`;
  }

  cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint8Array, palette: string[]): void {
    const lines = cells.length / columns;
    if (cells.length > 5000) {
      const image = cellImage(columns, cells, palette).toDataURL();
      this.body += `<image x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" style="image-rendering: pixelated" href="${image}"/>\n`;
      return;
    }
    const w = width / columns;
    const h = height / lines;
    cells.forEach((colour, k) => {
      const fill = palette[colour]!;
      if (fill) this.rect(x + (k % columns) * w, y + Math.floor(k / columns) * h, w + 0.3, h + 0.3, { fill });
    });
  }

  finish(description: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${
      this.height
    }" font-family="${escaped(fontFamily)}" role="img" aria-label="${escaped(description)}">\n<rect width="100%" height="100%" fill="${
      this.theme.card
    }"/>\n${this.body}</svg>\n`;
  }
}

/** A colour between two, as #rrggbb. */
export function mix(from: string, to: string, share: number): string {
  const a = parseInt(from.slice(1), 16);
  const b = parseInt(to.slice(1), 16);
  const part = (shift: number) => {
    const x = (a >> shift) & 255;
    const y = (b >> shift) & 255;
    return Math.round(x + (y - x) * share);
  };
  return "#" + ((part(16) << 16) | (part(8) << 8) | part(0)).toString(16).padStart(6, "0");
}

/** Shades of the first colour, the stronger the better, finer near the best (as the surface of the report). */
export function shade(theme: Theme, share: number): string {
  const fine = Math.min(1, Math.max(0, share)) ** 3;
  return mix(mix(theme.card, theme.colours[0]!, 0.08), theme.dark ? "#8fd0f2" : "#1d5c82", fine);
}

/** Black or white, whichever is easier to read on a colour. */
export function readable(colour: string): string {
  const rgb = parseInt(colour.slice(1), 16);
  const linear = (shift: number) => (((rgb >> shift) & 255) / 255) ** 2.2;
  const light = 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
  return light > 0.2 ? "#10151c" : "#ffffff";
}

/** A name cut to `most` characters. */
export function short(name: string, most = 20): string {
  const characters = [...name];
  return characters.length > most ? characters.slice(0, most).join("") + "…" : name;
}
