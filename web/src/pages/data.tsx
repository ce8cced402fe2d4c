// Files of the folder; or one dataset: what is in it, its rows, and which column plays which role.
import { get, put } from "../lib/api";
import { bytes, grouped } from "../lib/format";
import { useLoad } from "../lib/hooks";
import { go, link, replace, type Route } from "../lib/router";
import { addToDraft, changes, complain, say, status, useStore } from "../lib/store";
import type { Dataset, Settings } from "../lib/types";
import { Card, Empty, Failure, LinkButton, PageHead, Tabs, Waiting } from "../ui/basic";
import { Drop } from "../ui/drop";
import { Table } from "../ui/table";
import { ProfileView } from "./data/profile";
import { TableView } from "./data/rows";
import { Demonstration } from "./home";

export function DataPage({ route }: { route: Route }) {
  return route.id ? <OneDataset route={route} /> : <AllDatasets />;
}

function AllDatasets() {
  const version = useStore(changes);
  const list = useLoad((signal) => get<{ datasets: Dataset[]; truncated: boolean }>("datasets", {}, signal), [version]);
  const server = useStore(status);
  const add = (dataset: Dataset) => go(dataset.kind === "psms" ? link("rescoring", "", { dataset: dataset.id }) : link("data", dataset.id));
  return (
    <>
      <PageHead title="Data" about={server && `Files below ${server.folder} that Sheaf reads.`} />
      <Drop title="Drop a file here" onDataset={add}>
        <Demonstration />
      </Drop>
      {list.error && <Failure error={list.error} again={list.again} />}
      {!list.value && !list.error && <Waiting />}
      {list.value && list.value.datasets.length > 0 && (
        <div class="cards">
          <Card title="Datasets" wide {...(list.value.truncated ? { about: "There are more files than are listed." } : {})}>
            <Table
              label="Datasets"
              rows={list.value.datasets}
              id={(dataset) => dataset.id}
              order={{ name: "path", down: false }}
              columns={[
                {
                  name: "path",
                  title: "file",
                  key: (d) => d.path,
                  cell: (d) => (
                    <a class="row-name" href={d.kind === "psms" ? link("rescoring", "", { dataset: d.id }) : link("data", d.id)}>
                      {d.path}
                    </a>
                  ),
                },
                { name: "format", title: "format", key: (d) => d.format, cell: (d) => d.format },
                { name: "rows", title: "rows", right: true, key: (d) => d.rows, cell: (d) => (d.rows == null ? "-" : grouped(d.rows)) },
                { name: "features", title: "features", right: true, key: (d) => d.features, cell: (d) => (d.features == null ? "-" : grouped(d.features)) },
                { name: "bytes", title: "size", right: true, key: (d) => d.bytes, cell: (d) => bytes(d.bytes) },
              ]}
            />
          </Card>
        </div>
      )}
    </>
  );
}

const tabs = [
  { name: "profile", title: "Overview" },
  { name: "rows", title: "Rows and columns" },
];

function OneDataset({ route }: { route: Route }) {
  const loaded = useLoad((signal) => get<Dataset>(`datasets/${route.id}`, {}, signal), [route.id]);
  const server = useStore(status);
  const tab = route.query.get("tab") ?? "profile";
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />;
  const dataset = loaded.value;
  if (!dataset) return <Waiting />;
  const read = async (reading: Settings) => {
    try {
      await put<Dataset>(`datasets/${dataset.id}/reading`, reading);
      const gone = Object.keys(dataset.reading ?? {}).map((name) => [name, null] as const);
      addToDraft("search", dataset.id, { ...Object.fromEntries(gone), ...reading });
      loaded.again();
    } catch (error) {
      complain(error);
    }
  };
  const remedy = async (settings: Settings, title: string) => {
    const own = new Set(["label", "ignore", "nominal", "group", "weight-column", "order", "event", "missing-codes", "missing", "positive", "task", "split-column", "id", "header"]);
    const reading = Object.fromEntries(Object.entries(settings).filter(([name]) => own.has(name)));
    addToDraft("search", dataset.id, settings);
    if (Object.keys(reading).length > 0) await read({ ...dataset.reading, ...reading });
    say(`${title}: added to the design.`);
  };
  return (
    <>
      <PageHead title={dataset.name} about={`${dataset.path} · ${dataset.format} · ${bytes(dataset.bytes)}`}>
        <LinkButton href={`api/v1/datasets/${dataset.id}/file`} download>
          Download
        </LinkButton>
        {!server?.read_only && (
          <LinkButton kind="main" href={link("design", "", { dataset: dataset.id })}>
            Design a search
          </LinkButton>
        )}
      </PageHead>
      <Tabs label="Views of the dataset" tabs={tabs} value={tab} onChange={(name) => replace(link("data", dataset.id, { tab: name }))}>
        {dataset.kind !== "table" ? (
          <Empty title="This file holds peptide-spectrum matches.">
            <LinkButton href={link("rescoring", "", { dataset: dataset.id })}>Rescore it</LinkButton>
          </Empty>
        ) : tab === "rows" ? (
          <TableView dataset={dataset} onReading={read} readOnly={!!server?.read_only} />
        ) : (
          <ProfileView dataset={dataset} onRemedy={remedy} onReading={read} readOnly={!!server?.read_only} />
        )}
      </Tabs>
    </>
  );
}
