// A search, a study or a selection before it starts.
import { useEffect, useState } from "preact/hooks";

import { get } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { link, type Route } from "../lib/router";
import { changes, draft, keepDraft, parameters, useStore } from "../lib/store";
import type { Dataset, Design } from "../lib/types";
import { Button, Card, Empty, Failure, LinkButton, PageHead, Waiting } from "../ui/basic";
import { DesignForm } from "./design/form";

const shownTasks = ["search", "study", "select"];

/** The design that was begun; of another dataset a new one with the roles of its columns. */
function begin(task: string, dataset: Dataset | undefined): Design {
  const kept = { ...draft(task), task };
  if (!dataset || kept.datasets[0] === dataset.id) return kept;
  return { task, datasets: [dataset.id], settings: { ...dataset.reading } };
}

export function DesignPage({ route }: { route: Route }) {
  const version = useStore(changes);
  const table = useLoad(() => parameters(), []);
  const datasets = useLoad((signal) => get<{ datasets: Dataset[] }>("datasets", {}, signal), [version]);
  const error = table.error ?? datasets.error;
  if (error) return <Failure error={error} again={table.error ? table.again : datasets.again} />;
  if (!table.value || !datasets.value) return <Waiting />;
  const tables = datasets.value.datasets.filter(({ kind }) => kind === "table");
  if (tables.length === 0)
    return (
      <>
        <PageHead title="Design" />
        <Empty title="There is no dataset yet.">
          <LinkButton kind="main" href={link("data")}>
            Add data
          </LinkButton>
        </Empty>
      </>
    );
  return <Loaded route={route} parameters={table.value} tables={tables} />;
}

function Loaded(props: { route: Route; parameters: Awaited<ReturnType<typeof parameters>>; tables: Dataset[] }) {
  const { tables } = props;
  const wanted = props.route.query.get("dataset");
  const [design, set] = useState<Design>(() => begin(props.route.query.get("task") ?? "search", tables.find(({ id }) => id === wanted)));
  useEffect(() => {
    if (design.datasets.length === 0 && tables.length === 1) set(begin(design.task, tables[0]));
  }, [tables.length]);
  const dataset = tables.find(({ id }) => id === design.datasets[0]);
  const tasks = props.parameters.tasks.filter(({ name }) => shownTasks.includes(name));
  const chooseTask = (name: string) => {
    keepDraft(design);
    set({ ...begin(name, dataset), task: name });
  };
  const clear = () => set({ task: design.task, datasets: design.datasets, settings: { ...dataset?.reading } });
  return (
    <>
      <PageHead title="Design" about="What you leave empty follows from the data.">
        <Button onClick={clear}>Start over</Button>
      </PageHead>
      <div class="tasks" role="group" aria-label="What to do">
        {tasks.map((task) => (
          <button key={task.name} type="button" class="task" aria-pressed={task.name === design.task} onClick={() => chooseTask(task.name)}>
            <b>{task.title}</b>
            <span>{task.about}</span>
          </button>
        ))}
      </div>
      <DesignForm
        key={design.task}
        design={design}
        onChange={set}
        parameters={props.parameters}
        dataset={
          <Card title="Dataset">
            <div class="controls">
              <select
                aria-label="Dataset"
                value={dataset?.id ?? ""}
                onChange={(event) => set(begin(design.task, tables.find(({ id }) => id === event.currentTarget.value)))}
              >
                <option value="" disabled>
                  choose a dataset
                </option>
                {tables.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.path}
                  </option>
                ))}
              </select>
              {dataset && <a href={link("data", dataset.id)}>Look at it</a>}
              <a href={link("data")}>Add data</a>
            </div>
          </Card>
        }
      />
    </>
  );
}
