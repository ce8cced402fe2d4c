// Results that are a table: neighbours, or features that were selected without a model.
import { get } from "../../lib/api";
import { brief, plural } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import type { RunDetail, TablePage } from "../../lib/types";
import { useRef, useState } from "preact/hooks";
import { Card, Failure, Waiting } from "../../ui/basic";
import { Grid } from "../../ui/table";
import { FilesView } from "./files";

const block = 500;

/** A CSV file of any length, asked for as it is scrolled. */
export function TableFile({ run, name, title, about }: { run: RunDetail; name: string; title: string; about?: string }) {
  const pages = useRef(new Map<number, TablePage | null>());
  const [, redraw] = useState(0);
  const path = `runs/${run.id}/tables/${encodeURIComponent(name)}`;
  const first = useLoad((signal) => get<TablePage>(path, { from: 0, count: block }, signal), [path]);
  if (first.error) return <Failure error={first.error} again={first.again} />;
  const page = first.value;
  if (!page) return <Waiting />;
  pages.current.set(0, page);
  const load = (from: number, count: number) => {
    for (let b = Math.floor(from / block); b <= Math.floor((from + count) / block); ++b) {
      if (pages.current.has(b) || b * block >= page.total_rows) continue;
      pages.current.set(b, null);
      get<TablePage>(path, { from: b * block, count: block }).then(
        (answer) => {
          pages.current.set(b, answer);
          redraw((old) => old + 1);
        },
        () => pages.current.delete(b),
      );
    }
  };
  return (
    <Card title={title} about={`${plural(page.total_rows, "row")}.${about ? " " + about : ""}`} wide>
      <Grid
        rows={page.total_rows}
        columns={page.columns.map((column, k) => ({ title: column, width: Math.max(110, 30 + 8 * column.length), ...(typeof page.rows[0]?.[k] === "number" && column !== "name" ? { kind: "number" } : {}) }))}
        label={title}
        cell={(row, k) => {
          const value = pages.current.get(Math.floor(row / block))?.rows[row % block];
          return value === undefined ? undefined : value[k] == null ? "" : typeof value[k] === "number" && !isName(page.columns[k]!) ? brief(value[k]) : String(value[k]);
        }}
        onView={load}
      />
    </Card>
  );
}

/** Numbers in these columns are names, and are neither rounded nor grouped. */
const isName = (column: string) => ["name", "feature", "index", "query", "neighbour", "rank", "position"].includes(column);

const titles: Record<string, string> = { "selection.csv": "Selected features", "neighbors.csv": "Nearest rows" };

export function PlainResults({ run }: { run: RunDetail }) {
  const tables = run.files.filter((file) => file.table);
  return (
    <>
      <div class="cards">
        {tables.slice(0, 3).map((file) => (
          <TableFile key={file.name} run={run} name={file.name} title={titles[file.name] ?? file.name} {...(run.kind === "neighbors" ? { about: "Rows of the dataset are counted from 0: index is the neighbour of the row that query names." } : {})} />
        ))}
      </div>
      <FilesView run={run} />
    </>
  );
}
