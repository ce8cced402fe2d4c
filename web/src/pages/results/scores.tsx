// Scores over the points: a map of any two settings, a curve of one, a surface on request, parallel coordinates, a table.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import { drawScoreCurves, type ScoreCurve } from "../../charts/curves";
import { drawHeat, heatMap, type HeatOptions } from "../../charts/heat";
import { columnsOf, drawParallel, mostLines, valueAt, within, type Ranges } from "../../charts/parallel";
import { Picture } from "../../charts/picture";
import { drawSurface, firstView, surfaceOf, turned, type View } from "../../charts/surface";
import { axisTitle, capitalised, grouped, plural, scoreTitle, settingText, spread } from "../../lib/format";
import { bestOf, isNumeric, mean, nearBest, same, sizeTitle, varying, type Points, type ScoredPoint } from "../../lib/points";
import { Button, Card, Check, Select } from "../../ui/basic";
import { Grid, sortRows, type Column, type Order } from "../../ui/table";

interface PointsProps {
  points: Points;
  metric: string;
  sign: 1 | -1;
  chosen?: Record<string, unknown>;
  live?: boolean;
}

/** Points of one model: several models have no settings in common. */
export function PointsCards(props: PointsProps) {
  const { points } = props;
  const models = useMemo(() => [...new Set(points.list.map((point) => point.values["model"]).filter((name) => name !== undefined))].map(String), [points]);
  const preferred = props.chosen?.["model"] ?? bestOf(points.list, props.metric, props.sign)?.values["model"];
  const [model, setModel] = useState<string | null>(null);
  const shown = model ?? (preferred === undefined ? (models[0] ?? "") : String(preferred));
  const own = useMemo(() => (models.length === 0 ? points.list : points.list.filter((point) => point.values["model"] === shown)), [points, shown]);
  const axes = useMemo(() => varying(own, points.axes.filter((axis) => axis !== "model")), [own, points.axes]);
  const picker = models.length > 1 && <Select label="model" value={shown} onChange={setModel} options={models.map((name) => ({ value: name, text: name }))} />;
  const common = { ...props, own, axes, picker };
  const numeric = axes.filter((axis) => isNumeric(own, axis));
  return (
    <>
      {axes.length >= 2 ? <Heat key={shown + axes.join()} {...common} /> : axes.length === 1 && numeric.length === 1 ? null : picker && <Card title="Points">{picker}</Card>}
      {numeric.length > 0 && <Curve key={"c" + shown + axes.join()} {...common} numeric={numeric} />}
      {axes.length >= 2 && !props.live && <Parallel key={"p" + shown} {...common} />}
      {!props.live && <PointsTable {...props} />}
    </>
  );
}

interface OwnProps extends PointsProps {
  own: ScoredPoint[];
  axes: string[];
  picker: ComponentChildren;
}

function pointData(points: ScoredPoint[], metric: string) {
  const axes = [...new Set(points.flatMap((point) => Object.keys(point.values)))];
  return {
    columns: [...axes, metric, "standard deviation", "standard error", "size"],
    rows: points.map((point) => {
      const summary = point.scores[metric];
      return [...axes.map((axis) => point.values[axis]), summary?.mean, summary?.standard_deviation, summary?.standard_error, point.size];
    }),
  };
}

function Heat(props: OwnProps) {
  const { own, axes, metric, sign, points } = props;
  const [x, setX] = useState(axes[0]!);
  const [y, setY] = useState(axes[1]!);
  const [surface, setSurface] = useState(false);
  const [size, setSize] = useState(false);
  const [view, setView] = useState<View>(firstView);
  const isSize = size && points.sizeName !== null;
  const shown = isSize ? "size" : metric;
  const list = useMemo(
    () => (isSize ? own.map((point) => ({ ...point, scores: point.size === undefined ? {} : { size: { mean: point.size } } })) : own),
    [own, isSize],
  );
  const map = useMemo(() => {
    const best = bestOf(own, metric, sign);
    const options: HeatOptions = {
      points: list as ScoredPoint[],
      x,
      y,
      metric: shown,
      sign: isSize ? 1 : sign,
      inRegion: isSize ? () => false : nearBest(own, metric, sign),
      isChosen: (point) => (props.chosen ? same(point, props.chosen) : point === best),
    };
    return heatMap(options);
  }, [list, x, y, shown, props.chosen]);
  const mesh = useMemo(() => (surface ? surfaceOf(map.options) : null), [surface, map]);
  const pick = (set: (axis: string) => void, other: string, swap: (axis: string) => void, now: string) => (axis: string) => {
    if (axis === other) swap(now);
    set(axis);
  };
  const choices = axes.map((axis) => ({ value: axis, text: axisTitle(axis) }));
  const rest = axes.filter((axis) => axis !== x && axis !== y);
  const title = isSize ? `How many ${sizeTitle(points.sizeName!)}` : `${capitalised(scoreTitle(metric))} of each point`;
  return (
    <Picture
      title={title}
      about={
        isSize
          ? "The stronger the colour, the more."
          : surface
            ? "Drag it, or press the arrow keys, to turn it. Dots: the points; between them the surface is interpolated."
          : `The stronger the colour, the better, finer near the best. Outlined: within one standard error of the best mean. Ringed: ${props.live ? "the best so far" : "the chosen point"}.${rest.length > 0 ? ` Of ${rest.map(axisTitle).join(" and ")} the best value.` : ""}`
      }
      height={(width) => Math.min(520, Math.max(300, width * 0.72))}
      draw={(pen) => (mesh ? drawSurface(pen, mesh, view) : drawHeat(pen, map))}
      data={() => pointData(list as ScoredPoint[], shown)}
      keys={[map, surface, surface && view]}
      {...(surface ? { onDrag: (dx: number, dy: number) => setView((old) => turned(old, dx, dy)) } : {})}
      controls={
        <>
          {props.picker}
          <Select label="across" value={x} onChange={pick(setX, y, setY, x)} options={choices} />
          <Select label="upwards" value={y} onChange={pick(setY, x, setX, y)} options={choices} />
          {isNumeric(own, x) && isNumeric(own, y) && <Check label="as a surface" checked={surface} onChange={setSurface} />}
          {points.sizeName && !props.live && <Check label={sizeTitle(points.sizeName)} checked={size} onChange={setSize} />}
        </>
      }
    />
  );
}

const mostCurves = 8;

/** Whether each value of `axis` makes a curve over `x`: a choice among names, or numbers that have places of x of their own. */
function isCurveOf(own: ScoredPoint[], axis: string, x: string): boolean {
  const places = new Map<unknown, Set<unknown>>();
  for (const point of own) places.set(point.values[axis], (places.get(point.values[axis]) ?? new Set()).add(point.values[x]));
  if (places.size > mostCurves) return false;
  const most = Math.max(...[...places.values()].map((values) => values.size));
  return !isNumeric(own, axis) || new Set(own.map((point) => point.values[x])).size > 1.5 * most;
}

/** The score over one setting; a curve for each value of another where there are few. */
function Curve(props: OwnProps & { numeric: string[] }) {
  const { own, axes, metric, sign, numeric } = props;
  const [x, setX] = useState(numeric[0]!);
  const [splits, setSplits] = useState(true);
  const others = axes.filter((axis) => axis !== x);
  const by = others.find((axis) => isCurveOf(own, axis, x));
  const best = bestOf(own, metric, sign);
  const curves = useMemo(() => {
    const groups = new Map<string, Map<number, ScoredPoint>>();
    for (const point of own) {
      const name = by === undefined ? "" : settingText(point.values[by]);
      const group = groups.get(name) ?? new Map<number, ScoredPoint>();
      groups.set(name, group);
      const place = Number(point.values[x]);
      const old = group.get(place);
      if (!old || sign * mean(point, metric) > sign * mean(old, metric)) group.set(place, point);
    }
    return [...groups].map(
      ([name, group], colour): ScoreCurve => ({
        name,
        colour,
        points: [...group].map(([place, point]) => ({
          x: place,
          summary: point.scores[metric] ?? { mean: null },
          ringed: props.chosen ? same(point, props.chosen) : point === best,
        })),
      }),
    );
  }, [own, x, by, metric, props.chosen]);
  const bar = best ? mean(best, metric) - sign * (best.scores[metric]?.standard_error ?? 0) : null;
  const hidden = others.filter((axis) => axis !== by);
  return (
    <Picture
      title={`${capitalised(scoreTitle(metric))} over ${axisTitle(x)}`}
      about={`Line: mean over the splits. Band: one standard deviation to each side. Dashed: one standard error from the best mean. Ringed: ${props.live ? "the best so far" : "the chosen point"}.${hidden.length > 0 ? ` Of ${hidden.map(axisTitle).join(" and ")} the best value.` : ""}`}
      height={330}
      wide={axes.length < 2}
      legend={by === undefined ? [] : curves.map((curve, colour) => ({ colour, text: `${axisTitle(by)} ${curve.name}` }))}
      draw={(pen) => drawScoreCurves(pen, { x, y: scoreTitle(metric), curves, bar, splits: splits && curves.length === 1 })}
      data={() => ({
        columns: [...(by === undefined ? [] : [by]), x, "mean", "standard deviation", "standard error"],
        rows: curves.flatMap((curve) =>
          curve.points.map((point) => [...(by === undefined ? [] : [curve.name]), point.x, point.summary.mean, point.summary.standard_deviation, point.summary.standard_error]),
        ),
      })}
      keys={[curves, metric, splits, bar]}
      controls={
        <>
          {axes.length < 2 && props.picker}
          {numeric.length > 1 && <Select label="over" value={x} onChange={setX} options={numeric.map((axis) => ({ value: axis, text: axisTitle(axis) }))} />}
          {curves.length === 1 && <Check label="single splits" checked={splits} onChange={setSplits} />}
        </>
      }
    />
  );
}

function Parallel(props: OwnProps) {
  const { own, axes, metric, sign } = props;
  const [ranges, setRanges] = useState<Ranges>({});
  const [begin, setBegin] = useState<{ name: string; value: number } | null>(null);
  const columns = useMemo(() => columnsOf(own, axes, metric), [own, axes, metric]);
  const inside = useMemo(() => own.filter((point) => within(point, columns, ranges)), [own, columns, ranges]);
  const height = 340;
  const [width, setWidth] = useState(600);
  const drag = (dx: number, dy: number, x: number, y: number) => {
    const place = valueAt(x, y, columns, width, height);
    if (dx === 0 && dy === 0) {
      setBegin(place && { name: place.column.name, value: place.value });
      if (place) setRanges(({ [place.column.name]: _, ...rest }) => rest);
    } else if (begin && place?.column.name === begin.name)
      setRanges({ ...ranges, [begin.name]: [Math.min(begin.value, place.value), Math.max(begin.value, place.value)] });
  };
  return (
    <Picture
      title="All settings at once"
      about={`Each line is a point; the stronger the colour, the better.${own.length > mostLines ? ` The best ${grouped(mostLines)} are drawn.` : ""} Drag along an axis to see only points in a range.`}
      wide
      height={height}
      draw={(pen) => {
        if (pen.width !== width) setTimeout(() => setWidth(pen.width));
        drawParallel(pen, own, columns, ranges, sign);
      }}
      data={() => pointData(inside, metric)}
      keys={[columns, ranges]}
      onDrag={drag}
      controls={
        Object.keys(ranges).length > 0 && (
          <>
            <span class="soft">
              {grouped(inside.length)} of {plural(own.length, "point")}
            </span>
            <Button small onClick={() => setRanges({})}>
              Show all
            </Button>
          </>
        )
      }
    />
  );
}

function PointsTable({ points, metric, sign, chosen }: PointsProps) {
  const [order, setOrder] = useState<Order>({ name: metric, down: sign > 0 });
  const columns = useMemo(() => {
    const setting = (axis: string): Column<ScoredPoint> => ({
      name: axis,
      title: axisTitle(axis),
      key: (point) => point.values[axis] ?? null,
      cell: (point) => settingText(point.values[axis]),
      long: axis === "model",
    });
    const scored = (name: string): Column<ScoredPoint> => ({ name, title: scoreTitle(name), right: true, key: (point) => point.scores[name]?.mean, cell: (point) => spread(point.scores[name]) });
    // The score that chooses stands in view, however many settings all models have together.
    const list = [
      ...points.axes.filter((axis) => axis === "model").map(setting),
      scored(metric),
      ...points.axes.filter((axis) => axis !== "model").map(setting),
      ...points.metrics.filter((one) => one !== metric).map(scored),
    ];
    if (points.sizeName) list.push({ name: "size", title: sizeTitle(points.sizeName), right: true, key: (point) => point.size, cell: (point) => point.size?.toFixed(1) ?? "-" });
    return list;
  }, [points, metric]);
  const rows = useMemo(() => sortRows(points.list, columns, order), [points.list, columns, order]);
  const picked = useMemo(() => (chosen ? rows.findIndex((point) => same(point, chosen)) : -1), [rows, chosen]);
  const heads = columns.map((column) => ({
    title: column.title,
    width: Math.max(column.long ? 200 : column.right ? 150 : 110, 40 + 8 * column.title.length),
    ...(column.right ? { kind: "number" } : {}),
    head: (
      <button type="button" class="column-button" aria-label={`Sort by ${column.title}`} onClick={() => setOrder({ name: column.name, down: order.name === column.name ? !order.down : !!column.right })}>
        {column.title}
        {order.name === column.name ? (order.down ? " ↓" : " ↑") : ""}
      </button>
    ),
  }));
  return (
    <Card title="All scores" about={`Mean over the splits ± standard deviation; ${plural(rows.length, "point")}${points.axes.includes("model") ? " that were tried on all splits" : ""}. Marked: the chosen point.`} wide>
      <Grid rows={rows.length} columns={heads} label="All scores" cell={(row, k) => String(columns[k]!.cell(rows[row]!))} picked={picked >= 0 ? picked : null} />
    </Card>
  );
}
