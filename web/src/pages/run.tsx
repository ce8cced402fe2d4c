// One run: live while it runs, its results once it is done.
import { get, post } from "../lib/api";
import { duration } from "../lib/format";
import { useLoad } from "../lib/hooks";
import { go, link, type Route } from "../lib/router";
import { changes, complain, jobs, parameters, status, useStore } from "../lib/store";
import type { Job, RescoreResults, Results, RunDetail } from "../lib/types";
import { Button, Card, CopyBlock, Failure, LinkButton, PageHead, State, Waiting } from "../ui/basic";
import { FilesView } from "./results/files";
import { Live } from "./results/live";
import { PlainResults } from "./results/plain";
import { Rescored } from "./results/rescored";
import { ResultsView } from "./results/view";

function Controls({ run, job }: { run: RunDetail; job: Job | undefined }) {
  const act = (request: Promise<unknown>) => void request.catch(complain);
  if (useStore(status)?.read_only) return null;
  const state = job?.state ?? run.state;
  return (
    <>
      {job && state === "running" && <Button onClick={() => act(post(`jobs/${job.id}/stop`))}>Stop</Button>}
      {job && (state === "stopped" || state === "failed") && (
        <Button kind="main" onClick={() => act(post(`jobs/${job.id}/resume`))}>
          Resume
        </Button>
      )}
      {job && state === "queued" && <LinkButton href={link("queue")}>Place {(job.position ?? 0) + 1} in the queue</LinkButton>}
      {state === "done" && run.files.some(({ name }) => name === "report.html") && <LinkButton href={link("runs", run.id, { tab: "files" })}>Report</LinkButton>}
      {state === "done" && run.files.some(({ name }) => name === "model.txt") && run.kind !== "rescore" && (
        <LinkButton kind="main" href={link("predict", "", { run: run.id })}>
          Predict new rows
        </LinkButton>
      )}
    </>
  );
}

export function RunPage({ route }: { route: Route }) {
  const version = useStore(changes);
  const job = useStore(jobs).find((one) => one.run === route.id);
  const loaded = useLoad((signal) => get<RunDetail>(`runs/${route.id}`, {}, signal), [route.id, version, job?.state]);
  const run = loaded.value;
  if (!run && job) return <Queued job={job} />;
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />;
  if (!run) return <Waiting />;
  const state = job && job.state !== "done" ? job.state : run.state;
  return (
    <>
      <PageHead
        title={run.name}
        about={
          <>
            <State state={state} /> {run.source && `· ${run.source} `}
            {run.title && `· ${run.title} `}
            {run.seconds != null && state === "done" && `· took ${duration(run.seconds)}`}
          </>
        }
      >
        <Controls run={run} job={job} />
      </PageHead>
      {state === "failed" && <Failure error={new Error(job?.message || run.message || "The run failed.")} />}
      {state === "done" ? <Done run={run} route={route} /> : <Live key={`${run.id}${state === "running"}`} run={run} job={job} state={state} onEnd={loaded.again} />}
    </>
  );
}

function Queued({ job }: { job: Job }) {
  return (
    <>
      <PageHead title={job.name} about={<State state={job.state} />}>
        <Button onClick={() => go(link("queue"))}>Jobs</Button>
      </PageHead>
      {job.state === "failed" && <Failure error={new Error(job.message || "The job failed.")} />}
      <Card title="Command">
        <CopyBlock text={job.command} label="Command" />
      </Card>
    </>
  );
}

function Done({ run, route }: { run: RunDetail; route: Route }) {
  const table = useLoad(() => parameters(), []);
  const hasResults = run.files.some(({ name }) => name === "results.json");
  const loaded = useLoad((signal) => (hasResults ? get<Results | RescoreResults>(`runs/${run.id}/results`, {}, signal) : Promise.resolve(null)), [run.id, run.modified]);
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />;
  if (loaded.value === undefined || (!table.value && !table.error)) return <Waiting />;
  // The results of a selection without a model are its list of features.
  if (loaded.value === null ? run.kind === "neighbors" : "selected" in loaded.value) return <PlainResults run={run} />;
  if (loaded.value === null) return <FilesView run={run} />;
  if (run.kind === "rescore") return <Rescored run={run} results={loaded.value as RescoreResults} route={route} />;
  return <ResultsView run={run} results={loaded.value as Results} metrics={table.value?.metrics ?? []} route={route} />;
}
