// Tables: a short one that sorts, and one that draws only the rows in view, of any number.
import { Component, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { useFrame, useSize } from "../lib/hooks";

export interface Column<R> {
  name: string;
  title: string;
  cell: (row: R) => ComponentChildren;
  /** What the column is sorted by; left out: it does not sort. */
  key?: (row: R) => string | number | null | undefined;
  right?: boolean;
  /** Its text may take several lines. */
  long?: boolean;
  /** The title is for screen readers alone. */
  bare?: boolean;
}

export interface Order {
  name: string;
  down: boolean;
}

function compare(a: string | number | null | undefined, b: string | number | null | undefined): number {
  const missing = (value: unknown) => value == null || Number.isNaN(value);
  if (missing(a) || missing(b)) return missing(a) ? (missing(b) ? 0 : 2) : -2; // missing values stay last
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

export function sortRows<R>(rows: R[], columns: Column<R>[], order: Order | null): R[] {
  const key = columns.find((column) => column.name === order?.name)?.key;
  if (!order || !key) return rows;
  return [...rows].sort((a, b) => {
    const result = compare(key(a), key(b));
    return Math.abs(result) === 2 ? result : order.down ? -result : result;
  });
}

export function Heading<R>({ column, order, onOrder }: { column: Column<R>; order: Order | null; onOrder: (order: Order) => void }) {
  const active = order?.name === column.name;
  return (
    <th scope="col" class={column.right ? "r" : ""} aria-sort={!column.key ? undefined : active ? (order.down ? "descending" : "ascending") : "none"}>
      {column.key ? (
        <button type="button" class="sort" onClick={() => onOrder({ name: column.name, down: active ? !order.down : !!column.right })}>
          {column.title}
          <span aria-hidden="true">{active ? (order.down ? " ↓" : " ↑") : ""}</span>
        </button>
      ) : column.bare ? (
        <span class="hidden">{column.title}</span>
      ) : (
        column.title
      )}
    </th>
  );
}

export function Table<R>(props: {
  columns: Column<R>[];
  rows: R[];
  id: (row: R) => string;
  label: string;
  order?: Order | null;
  marked?: (row: R) => boolean;
  onPick?: (row: R) => void;
  most?: number;
}) {
  const [order, setOrder] = useState<Order | null>(props.order ?? null);
  const [all, setAll] = useState(false);
  const rows = useMemo(() => sortRows(props.rows, props.columns, order), [props.rows, props.columns, order]);
  const most = props.most ?? 200;
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
        <table>
          <thead>
            <tr>
              {props.columns.map((column) => (
                <Heading key={column.name} column={column} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {(all ? rows : rows.slice(0, most)).map((row) => (
              <tr key={props.id(row)} class={`${props.marked?.(row) ? "marked" : ""}${props.onPick ? " pick" : ""}`} onClick={() => props.onPick?.(row)}>
                {props.columns.map((column) => (
                  <td key={column.name} class={column.right ? "r" : column.long ? "wrap" : ""}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!all && rows.length > most && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show all {rows.length} rows
        </button>
      )}
    </>
  );
}

const rowHeight = 29;
const headHeight = 34;
// Browsers end an element at some 16 to 33 million pixels; beyond this a pixel of the scroll bar is more than one row.
const tallest = 12_000_000;
const settleTime = 60; // ms

export interface GridProps {
  rows: number;
  columns: { title: string; kind?: string; head?: ComponentChildren; width?: number }[];
  label: string;
  height?: number;
  /** undefined: not known yet. */
  cell: (row: number, column: number) => string | undefined;
  /** Which part is in view, so that it can be asked for: once it has come to rest, so that a scroll draws rows and nothing else. */
  onView?: (firstRow: number, rowCount: number, firstColumn: number, columnCount: number) => void;
  onPick?: (row: number) => void;
  picked?: number | null;
  /** How a row is numbered; left out: from 1. */
  number?: (row: number) => number;
}

interface GridRowProps {
  row: number;
  grid: GridProps;
  picked: boolean;
  numbers: number;
  offsets: number[];
  firstColumn: number;
  lastColumn: number;
}

/** Rows that stay in view while a grid is scrolled are left as they are. */
class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof GridRowProps)[]).some((key) => now[key] !== next[key]);
  }

  override render({ row, grid, picked, numbers, offsets, firstColumn, lastColumn }: GridRowProps) {
    const number = grid.number?.(row) ?? row + 1;
    return (
      <div
        role="row"
        aria-rowindex={row + 2}
        aria-selected={grid.onPick ? picked : undefined}
        class={`grid-row${grid.onPick ? " pick" : ""}${picked ? " picked" : ""}`}
        onClick={() => grid.onPick?.(row)}
      >
        <span class="grid-number" role="rowheader" aria-colindex={1} style={{ width: `${numbers}px` }}>
          {grid.onPick ? (
            <button type="button" class="link" onClick={() => grid.onPick!(row)}>
              {number}
            </button>
          ) : (
            number
          )}
        </span>
        {grid.columns.slice(firstColumn, lastColumn).map((column, k) => {
          const text = grid.cell(row, firstColumn + k);
          return (
            <span
              key={firstColumn + k}
              role="gridcell"
              aria-colindex={firstColumn + k + 2}
              class={`${column.kind === "number" ? "r" : ""}${text === undefined ? " unknown" : ""}`}
              style={{ left: `${numbers + offsets[firstColumn + k]!}px`, width: `${column.width ?? 130}px` }}
            >
              {text ?? ""}
            </span>
          );
        })}
      </div>
    );
  }
}

/** Which of `count` elements shows a row: rows that stay in view keep theirs, and those of rows that leave it are used again. */
function useSlots(from: number, count: number): (row: number) => number {
  const view = useRef({ from, base: from });
  const last = view.current;
  // After a jump no element changes its place in the document, which costs more than another text in it.
  const jumps = 4 * Math.abs(from - last.from) > count;
  const base = jumps ? last.base + from - last.from : last.base;
  view.current = { from, base };
  return (row) => (((row - base) % count) + count) % count;
}

/** A grid of any size: only cells in view are in the document. */
export function Grid(props: GridProps) {
  const { ref, width, height } = useSize<HTMLDivElement>();
  const [scroll, set] = useState({ top: 0, left: 0 });
  const update = useFrame(() => {
    const element = ref.current;
    if (element) set({ top: element.scrollTop, left: element.scrollLeft });
  });
  const numbers = 30 + 9 * Math.max(String(props.rows).length, props.number ? 6 : 1);
  const offsets = useMemo(() => {
    const list = [0];
    for (const column of props.columns) list.push(list[list.length - 1]! + (column.width ?? 130));
    return list;
  }, [props.columns]);
  const whole = props.rows * rowHeight;
  const inner = Math.min(whole, tallest);
  const view = Math.max(0, height - headHeight);
  const visible = Math.ceil(view / rowHeight) + 1;
  // In a squeezed scroll bar the share of the way says which row is the first.
  const first = whole <= tallest ? Math.floor(scroll.top / rowHeight) : Math.floor((scroll.top / Math.max(1, inner - view)) * Math.max(0, props.rows - visible + 2));
  const from = Math.max(0, Math.min(first, props.rows - 1) - 2);
  const count = Math.max(0, Math.min(visible + 4, props.rows - from));
  const shift = whole <= tallest ? from * rowHeight : scroll.top - (first - from) * rowHeight;
  let firstColumn = 0;
  while (firstColumn + 1 < props.columns.length && offsets[firstColumn + 1]! < scroll.left) ++firstColumn;
  let lastColumn = firstColumn;
  while (lastColumn < props.columns.length && offsets[lastColumn]! < scroll.left + width) ++lastColumn;
  useEffect(() => {
    const timer = setTimeout(() => props.onView?.(from, count, firstColumn, lastColumn - firstColumn), settleTime);
    return () => clearTimeout(timer);
  }, [from, count, firstColumn, lastColumn]);
  const slot = useSlots(from, count);
  const shown = props.columns.slice(firstColumn, lastColumn);
  const keys = (event: KeyboardEvent) => {
    const element = ref.current!;
    const step = { ArrowDown: rowHeight, ArrowUp: -rowHeight, PageDown: view - rowHeight, PageUp: rowHeight - view }[event.key];
    if (step !== undefined && event.target === element) {
      element.scrollTop += step * (inner / Math.max(whole, 1));
      event.preventDefault();
    }
    if (event.key === "Home" && event.ctrlKey) element.scrollTop = 0;
    if (event.key === "End" && event.ctrlKey) element.scrollTop = inner;
  };
  return (
    <div
      class="grid"
      ref={ref}
      onScroll={update}
      onKeyDown={keys}
      tabIndex={0}
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.rows + 1}
      aria-colcount={props.columns.length + 1}
      style={{ height: `${Math.min(props.height ?? 480, whole + headHeight + 20)}px` }}
    >
      <div class="grid-head" role="row" aria-rowindex={1} style={{ width: `${numbers + offsets.at(-1)!}px` }}>
        <span class="grid-number" role="columnheader" aria-colindex={1} style={{ width: `${numbers}px` }}>
          row
        </span>
        {shown.map((column, k) => (
          <span
            key={firstColumn + k}
            role="columnheader"
            aria-colindex={firstColumn + k + 2}
            class={column.kind === "number" ? "r" : ""}
            style={{ left: `${numbers + offsets[firstColumn + k]!}px`, width: `${column.width ?? 130}px` }}
          >
            {column.head ?? column.title}
          </span>
        ))}
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${inner}px`, width: `${numbers + offsets.at(-1)!}px` }}>
        <div role="presentation" style={{ transform: `translateY(${shift}px)` }}>
          {Array.from({ length: count }, (_, r) => (
            <GridRow key={slot(from + r)} row={from + r} grid={props} picked={props.picked === from + r} {...{ numbers, offsets, firstColumn, lastColumn }} />
          ))}
        </div>
      </div>
    </div>
  );
}
