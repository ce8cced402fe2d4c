// The rows as they stand in the file; only what is in view is asked for. A click on a column sets its role.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { get } from "../../lib/api";
import { plural } from "../../lib/format";
import { complain } from "../../lib/store";
import type { Dataset, Rows, Settings } from "../../lib/types";
import { Button, Card, Failure, Waiting } from "../../ui/basic";
import { Grid } from "../../ui/table";
import { listOf, roleOf, roles, withRole } from "./roles";

const blockRows = 200;
const blockColumns = 40;
const mostBlocks = 200;

export function TableView(props: { dataset: Dataset; onReading: (reading: Settings) => Promise<void>; readOnly: boolean }) {
  const { dataset } = props;
  const reading = dataset.reading ?? {};
  const blocks = useRef(new Map<string, Rows | null>());
  const [head, setHead] = useState<Rows | null>(null);
  const [names, setNames] = useState<Map<number, { name: string; kind: string }>>(new Map());
  const [error, setError] = useState<Error | null>(null);
  const [, redraw] = useState(0);
  const [column, setColumn] = useState<string | null>(null);

  const fetchBlock = useCallback(
    async (block: number, group: number, again = false): Promise<void> => {
      const key = `${block},${group}`;
      if (blocks.current.has(key) && !again) return;
      if (!again) blocks.current.set(key, null);
      try {
        const answer = await get<Rows>(`datasets/${dataset.id}/rows`, {
          from: block * blockRows,
          count: blockRows,
          first_column: group * blockColumns,
          columns: blockColumns,
        });
        if (answer.state === "failed") throw new Error(answer.message ?? "The rows can't be read.");
        const oldest = blocks.current.keys().next().value;
        if (blocks.current.size > mostBlocks && oldest !== undefined) blocks.current.delete(oldest);
        blocks.current.set(key, answer);
        setNames((old) => new Map([...old, ...answer.columns.map((one, k) => [answer.first_column + k, one] as const)]));
        setHead(answer);
        // Until the whole file was counted, the first block is asked for again: it says how many rows there are.
        const short = answer.rows.length < blockRows;
        if (answer.state === "running" && (short || key === "0,0")) {
          if (short) blocks.current.delete(key);
          setTimeout(() => void fetchBlock(block, group, !short), 700);
        }
        redraw((old) => old + 1);
      } catch (failure) {
        blocks.current.delete(key);
        if (key === "0,0") setError(failure as Error);
        else complain(failure);
      }
    },
    [dataset.id],
  );

  useEffect(() => void fetchBlock(0, 0), [fetchBlock]);
  const fetchView = (firstRow: number, rowCount: number, firstColumn: number, columnCount: number) => {
    for (let b = Math.floor(firstRow / blockRows); b <= Math.floor((firstRow + rowCount - 1) / blockRows); ++b)
      for (let g = Math.floor(firstColumn / blockColumns); g <= Math.floor((firstColumn + Math.max(0, columnCount - 1)) / blockColumns); ++g)
        void fetchBlock(b, g);
  };

  const total = head?.total_columns ?? 0;
  const columns = useMemo(
    () =>
      Array.from({ length: total }, (_, k) => {
        const known = names.get(k);
        const name = known?.name ?? "";
        const role = roleOf(reading, name);
        return {
          title: name,
          ...(known ? { kind: known.kind } : {}),
          head: props.readOnly ? (
            name
          ) : (
            <button type="button" class="column-button" title={`${name}: set its role`} onClick={() => setColumn(name)}>
              {role && <span class={`role ${role}`}>{role === "weight-column" ? "weight" : role}</span>}
              {name}
            </button>
          ),
        };
      }),
    [total, names, JSON.stringify(reading), props.readOnly],
  );
  if (error) return <Failure error={error} />;
  if (!head) return <Waiting what="Reading the rows" />;
  const known = Math.max(head.total_rows ?? 0, head.from + head.rows.length);
  const cell = (row: number, k: number): string | undefined =>
    blocks.current.get(`${Math.floor(row / blockRows)},${Math.floor(k / blockColumns)}`)?.rows[row % blockRows]?.[k % blockColumns];
  return (
    <>
      <Card
        title="Rows"
        about={`${plural(known, "row")}${head.state === "running" ? " so far" : ""} and ${plural(total, "column")}, as they stand in the file.${props.readOnly ? "" : " Click on the name of a column to set its role."}`}
      >
        <Roles reading={reading} onClear={(name) => props.onReading(withRole(reading, name, null))} readOnly={props.readOnly} />
        <Grid
          rows={known}
          columns={columns}
          label={`Rows of ${dataset.name}`}
          height={560}
          cell={cell}
          onView={fetchView}
        />
      </Card>
      {column !== null && (
        <RoleDialog
          column={column}
          role={roleOf(reading, column)}
          onChoose={(role) => {
            setColumn(null);
            void props.onReading(withRole(reading, column, role));
          }}
          onClose={() => setColumn(null)}
        />
      )}
    </>
  );
}

function Roles(props: { reading: Settings; onClear: (name: string) => void; readOnly: boolean }) {
  const set = roles.flatMap(({ name }) => listOf(props.reading[name]).map((column) => ({ name, column })));
  if (set.length === 0) return null;
  return (
    <div class="controls">
      {set.map(({ name, column }) => (
        <span key={name + column}>
          <span class={`role ${name}`}>{name === "weight-column" ? "weight" : name}</span>
          {column}{" "}
          {!props.readOnly && (
            <button type="button" class="link" aria-label={`undo: ${column} is a feature again`} onClick={() => props.onClear(column)}>
              undo
            </button>
          )}
        </span>
      ))}
    </div>
  );
}

function RoleDialog(props: { column: string; role: string | null; onChoose: (role: string | null) => void; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const option = (name: string | null, title: string) => (
    <label class="check">
      <input type="radio" name="role" checked={props.role === name} onChange={() => props.onChoose(name)} />
      <span>{title}</span>
    </label>
  );
  return (
    <dialog ref={dialog} class="dialog" onCancel={props.onClose} aria-labelledby="role-title">
      <h2 id="role-title">Role of {props.column}</h2>
      <div class="plain-list" role="radiogroup" aria-labelledby="role-title">
        {option(null, "Feature: the model may use it")}
        {roles.map(({ name, title }) => option(name, title))}
      </div>
      <div class="actions">
        <Button onClick={props.onClose}>Cancel</Button>
      </div>
    </dialog>
  );
}
