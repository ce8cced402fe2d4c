// A page for a task of its own: files, the form, and earlier results.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { get } from "../lib/api";
import { ago, bytes } from "../lib/format";
import { useLoad } from "../lib/hooks";
import { link, type Route } from "../lib/router";
import { changes, draft, parameters, useStore } from "../lib/store";
import type { Dataset, Design, Parameters, Run } from "../lib/types";
import { Card, Failure, PageHead, State, Waiting } from "../ui/basic";
import { Drop } from "../ui/drop";
import { Table } from "../ui/table";
import { DesignForm } from "./design/form";
import { valueText } from "./home";

interface TaskPageProps {
  route: Route;
  task: "rescore" | "neighbors";
  title: string;
  about: ComponentChildren;
  kind: Dataset["kind"];
  several: boolean;
  dropTitle: string;
}

export function TaskPage(props: TaskPageProps) {
  const version = useStore(changes);
  const table = useLoad(() => parameters(), []);
  const datasets = useLoad((signal) => get<{ datasets: Dataset[] }>("datasets", {}, signal), [version]);
  const runs = useLoad((signal) => get<{ runs: Run[] }>("runs", { kind: props.task, sort: "-modified", count: 100 }, signal), [version]);
  const error = table.error ?? datasets.error ?? runs.error;
  if (error) return <Failure error={error} />;
  if (!table.value || !datasets.value) return <Waiting />;
  const files = datasets.value.datasets.filter(({ kind }) => kind === props.kind);
  return (
    <>
      <PageHead title={props.title} about={props.about} />
      <Begin {...props} parameters={table.value} files={files} onAdded={datasets.again} />
      {runs.value && runs.value.runs.length > 0 && (
        <div class="cards">
          <Card title="Earlier results" wide>
            <Table
              label="Earlier results"
              rows={runs.value.runs}
              id={(run) => run.id}
              columns={[
                { name: "name", title: "run", key: (r) => r.path, cell: (r) => <a class="row-name" href={link("runs", r.id)}>{r.path}</a> },
                { name: "state", title: "state", key: (r) => r.state, cell: (r) => <State state={r.state} /> },
                { name: "source", title: "from", key: (r) => r.source, cell: (r) => r.source ?? "-" },
                { name: "value", title: "result", right: true, key: (r) => r.value, cell: (r) => valueText(r) },
                { name: "modified", title: "changed", right: true, key: (r) => r.modified, cell: (r) => ago(r.modified) },
              ]}
            />
          </Card>
        </div>
      )}
    </>
  );
}

function Begin(props: TaskPageProps & { parameters: Parameters; files: Dataset[]; onAdded: () => void }) {
  const wanted = props.route.query.get("dataset");
  const [design, set] = useState<Design>(() => {
    const kept = { ...draft(props.task), task: props.task };
    return wanted && !kept.datasets.includes(wanted) ? { ...kept, datasets: [wanted] } : kept;
  });
  useEffect(() => {
    const there = design.datasets.filter((id) => props.files.some((file) => file.id === id));
    if (there.length !== design.datasets.length) set({ ...design, datasets: there });
  }, [props.files.length]);
  const choose = (id: string, on: boolean) =>
    set({ ...design, datasets: props.several ? (on ? [...design.datasets, id] : design.datasets.filter((one) => one !== id)) : [id] });
  return (
    <DesignForm
      design={design}
      onChange={set}
      parameters={props.parameters}
      dataset={
        <Card title={props.several ? "Files" : "Dataset"}>
          {props.files.length > 0 && (
            <div class="choices" role="group" aria-label="Files">
              {props.files.slice(0, 200).map((file) => (
                <label key={file.id} class="choice">
                  <input type={props.several ? "checkbox" : "radio"} name="file" checked={design.datasets.includes(file.id)} onChange={(event) => choose(file.id, event.currentTarget.checked)} />
                  {file.path} <span class="soft">{bytes(file.bytes)}</span>
                </label>
              ))}
            </div>
          )}
          <div class="drop-below">
            <Drop
              title={props.dropTitle}
              onDataset={(dataset) => {
                props.onAdded();
                choose(dataset.id, true);
              }}
            />
          </div>
        </Card>
      }
    />
  );
}
