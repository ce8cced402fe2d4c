// A card with a chart: drawn on a canvas, read with the pointer or the arrow keys, as a table, and saved as SVG, PNG or CSV.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { csvText, fileName, save, type Cell } from "../lib/csv";
import { plural, settingText } from "../lib/format";
import { useSize } from "../lib/hooks";
import { useStore } from "../lib/store";
import { light, theme, type Theme } from "../lib/theme";
import { CanvasPen, SvgPen, type Pen, type Spot } from "./pen";

export interface Legend {
  colour: number | "soft" | "ink";
  text: string;
}

export interface Data {
  columns: string[];
  rows: Cell[][];
}

export interface PictureProps {
  title: string;
  about?: ComponentChildren;
  wide?: boolean;
  height: number | ((width: number) => number);
  /** Draws at pen.width x pen.height. */
  draw: (pen: Pen) => void;
  data: () => Data;
  legend?: Legend[];
  /** Buttons and fields between text and chart. */
  controls?: ComponentChildren;
  /** Asks for a new drawing if any of these change. */
  keys: unknown[];
  description?: string;
  /** The pointer while it is pressed, as for a surface that is turned or a slider. */
  onDrag?: (dx: number, dy: number, x: number, y: number) => void;
  children?: ComponentChildren;
}

const legendColour = (entry: Legend, colours: Theme) =>
  typeof entry.colour === "number" ? colours.colours[entry.colour % 8]! : entry.colour === "soft" ? colours.soft : colours.ink;

/** Title and legend around the drawing, for files. */
function compose(pen: Pen, title: string, legend: Legend[], draw: () => void): void {
  pen.text(12, 22, title, { bold: true, size: 14 });
  let x = 12;
  for (const entry of legend) {
    pen.rect(x, 34, 10, 10, { fill: legendColour(entry, pen.theme), radius: 2 });
    pen.text(x + 15, 43, entry.text, { size: 11, colour: pen.theme.soft });
    x += 40 + 6.4 * entry.text.length;
  }
  draw();
}

const head = (legend: Legend[]) => (legend.length > 0 ? 52 : 34);

function svgOf(props: PictureProps, width: number, height: number): string {
  const legend = props.legend ?? [];
  const inner = new SvgPen(width, height, light);
  props.draw(inner);
  const outer = new SvgPen(width, height + head(legend), light);
  compose(outer, props.title, legend, () => {});
  const body = inner.finish("").replace(/^<svg[^>]*>/, `<svg y="${head(legend)}" width="${width}" height="${height}">`);
  return outer.finish(props.title).replace(/<\/svg>\n$/, body + "</svg>\n");
}

function savePng(props: PictureProps, width: number, height: number): void {
  const legend = props.legend ?? [];
  const scale = 2;
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = (height + head(legend)) * scale;
  const context = canvas.getContext("2d")!;
  context.scale(scale, scale);
  context.fillStyle = light.card;
  context.fillRect(0, 0, width, height + head(legend));
  compose(new CanvasPen(context, width, height, light), props.title, legend, () => {
    context.translate(0, head(legend));
    props.draw(new CanvasPen(context, width, height, light));
  });
  canvas.toBlob((blob) => blob && save(blob, "image/png", fileName(props.title) + ".png"), "image/png");
}

function nearest(pen: Pen, x: number, y: number): Spot | null {
  const found = pen.finder?.(x, y);
  if (found) return found;
  let best: Spot | null = null;
  let distance = Infinity;
  for (const spot of pen.spots) {
    const d = Math.hypot(spot.x - x, spot.y - y) - spot.radius;
    if (d < distance && d < 10) {
      best = spot;
      distance = d;
    }
  }
  return best;
}

function DataTable({ data, title }: { data: Data; title: string }) {
  const most = 500;
  return (
    <div class="scroll data-table" tabIndex={0} role="region" aria-label={`Data of ${title}`}>
      <table>
        <thead>
          <tr>
            {data.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.rows.slice(0, most).map((row, k) => (
            <tr key={k}>
              {row.map((cell, c) => (
                <td key={c} class={typeof cell === "number" ? "r" : ""}>
                  {settingText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {data.rows.length > most && <p class="soft">The first {most} of {plural(data.rows.length, "row")}; CSV has all.</p>}
    </div>
  );
}

export function Picture(props: PictureProps) {
  const colours = useStore(theme);
  const { ref, width } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const pen = useRef<Pen | null>(null);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [shown, setShown] = useState(false);
  const dragged = useRef<{ x: number; y: number } | null>(null);
  const height = typeof props.height === "number" ? props.height : props.height(Math.max(width, 200));
  const ratio = Math.max(1, devicePixelRatio || 1);

  useEffect(() => {
    const element = canvas.current;
    if (!element || width < 40) return;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    element.style.height = `${height}px`;
    const context = element.getContext("2d")!;
    context.scale(ratio, ratio);
    pen.current = new CanvasPen(context, width, height, colours);
    props.draw(pen.current);
    setSpot(null);
  }, [width, height, colours, ratio, ...props.keys]);

  const data = useMemo(() => (shown ? props.data() : null), [shown, ...props.keys]);

  const place = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const move = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (dragged.current && props.onDrag) {
      props.onDrag(x - dragged.current.x, y - dragged.current.y, x, y);
      dragged.current = { x, y };
      return;
    }
    const next = pen.current ? nearest(pen.current, x, y) : null;
    setSpot((old) => (old?.x === next?.x && old?.y === next?.y && old?.text === next?.text ? old : next));
  };
  const press = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (props.onDrag) {
      dragged.current = { x, y };
      (event.target as Element).setPointerCapture(event.pointerId);
      props.onDrag(0, 0, x, y);
    } else if (pen.current) nearest(pen.current, x, y)?.pick?.();
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const spots = pen.current?.spots ?? [];
    if (event.key === "Enter") spot?.pick?.();
    if (event.key === "Escape") setSpot(null);
    if (step === undefined) return;
    if (props.onDrag) {
      const turn = event.key === "ArrowLeft" || event.key === "ArrowRight";
      props.onDrag(turn ? 12 * step : 0, turn ? 0 : 12 * step, -1, -1);
    } else if (spots.length > 0) {
      const now = spot ? spots.findIndex((one) => one.x === spot.x && one.y === spot.y) : -1;
      setSpot(spots[(now + step + spots.length) % spots.length]!);
    } else return;
    event.preventDefault();
  };
  const file = fileName(props.title);
  return (
    <section class={`card picture${props.wide ? " wide" : ""}`}>
      <h2>{props.title}</h2>
      {props.about && <p class="about">{props.about}</p>}
      {props.controls && <div class="controls">{props.controls}</div>}
      {props.legend && props.legend.length > 0 && (
        <div class="legend">
          {props.legend.map((entry) => (
            <span key={entry.text}>
              <i class={typeof entry.colour === "number" ? `f${entry.colour % 8}` : `f-${entry.colour}`} />
              {entry.text}
            </span>
          ))}
        </div>
      )}
      <div class="plot" ref={ref}>
        <canvas
          ref={canvas}
          role="img"
          tabIndex={0}
          aria-label={`${props.description ?? props.title}. Arrow keys read the points; the button Table shows the numbers.`}
          onPointerMove={move}
          onPointerDown={press}
          onPointerUp={() => (dragged.current = null)}
          onPointerLeave={() => setSpot(null)}
          onKeyDown={keys}
          onBlur={() => setSpot(null)}
        />
        {spot && <Tip spot={spot} width={width} />}
        {props.children}
      </div>
      {shown && data && <DataTable data={data} title={props.title} />}
      <div class="save">
        <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
          Table
        </button>
        <button type="button" onClick={() => save(svgOf(props, Math.max(width, 320), height), "image/svg+xml", file + ".svg")}>
          SVG
        </button>
        <button type="button" onClick={() => savePng(props, Math.max(width, 320), height)}>
          PNG
        </button>
        <button
          type="button"
          onClick={() => {
            const { columns, rows } = props.data();
            save(csvText(columns, rows), "text/csv", file + ".csv");
          }}
        >
          CSV
        </button>
      </div>
    </section>
  );
}

function Tip({ spot, width }: { spot: Spot; width: number }) {
  const left = spot.x > width / 2;
  return (
    <>
      <div class="mark" style={{ left: `${spot.x}px`, top: `${spot.y}px` }} />
      <div
        class={`tip${left ? " left" : ""}`}
        role="status"
        style={{ [left ? "right" : "left"]: `${(left ? width - spot.x : spot.x) + 12}px`, top: `${spot.y}px` }}
      >
        {spot.text.split("\n").map((line, k) => (
          <div key={k}>{line}</div>
        ))}
      </div>
    </>
  );
}
