// Jobs: what runs, what waits in which order, what has ended.
import { post, remove } from "../lib/api";
import { ago, duration } from "../lib/format";
import { link, type Route } from "../lib/router";
import { complain, jobs, status, useStore } from "../lib/store";
import type { Job } from "../lib/types";
import { Button, Card, Empty, LinkButton, PageHead, ProgressBar, State } from "../ui/basic";

const act = (request: Promise<unknown>) => void request.catch(complain);

function Actions({ job, waiting }: { job: Job; waiting: number }) {
  const order = (position: number) => act(post(`jobs/${job.id}/order`, { position }));
  if (job.state === "queued")
    return (
      <>
        <Button small disabled={job.position === 0} aria-label={`${job.name} earlier`} onClick={() => order((job.position ?? 0) - 1)}>
          ↑
        </Button>
        <Button small disabled={(job.position ?? 0) >= waiting - 1} aria-label={`${job.name} later`} onClick={() => order((job.position ?? 0) + 1)}>
          ↓
        </Button>
        <Button small onClick={() => act(remove(`jobs/${job.id}`))}>
          Remove
        </Button>
      </>
    );
  if (job.state === "running")
    return (
      <Button small onClick={() => act(post(`jobs/${job.id}/stop`))}>
        Stop
      </Button>
    );
  if (job.state === "stopping") return null;
  return (
    <>
      {(job.state === "stopped" || job.state === "failed") && (
        <Button small onClick={() => act(post(`jobs/${job.id}/resume`))}>
          Resume
        </Button>
      )}
      <Button small title="Forgets the job; its results stay" onClick={() => act(remove(`jobs/${job.id}`))}>
        Forget
      </Button>
    </>
  );
}

function JobRow({ job, waiting, readOnly }: { job: Job; waiting: number; readOnly: boolean }) {
  const took = job.started == null ? null : (job.ended ?? Date.now() / 1000) - job.started;
  return (
    <tr>
      <td>
        <a class="row-name" href={link("runs", job.run)}>
          {job.name}
        </a>
        <div class="soft">{job.dataset_paths.join(", ")}</div>
      </td>
      <td class="long">
        {job.state === "running" ? <ProgressBar progress={job.progress} /> : <State state={job.state} />}
        {job.message && <div class="soft">{job.message}</div>}
      </td>
      <td class="r">{took == null ? ago(job.created) : duration(took)}</td>
      <td>{!readOnly && <div class="actions">{<Actions job={job} waiting={waiting} />}</div>}</td>
    </tr>
  );
}

export function Queue(_: { route: Route }) {
  const list = useStore(jobs);
  const server = useStore(status);
  const group = (title: string, states: string[], about: string) => {
    const own = list.filter((job) => states.includes(job.state)).sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
    if (own.length === 0) return null;
    return (
      <Card title={title} about={about} wide>
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">job</th>
                <th scope="col">state</th>
                <th scope="col" class="r">
                  time
                </th>
                <th scope="col">
                  <span class="hidden">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {own.map((job) => (
                <JobRow key={job.id} job={job} waiting={own.length} readOnly={!!server?.read_only} />
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    );
  };
  return (
    <>
      <PageHead title="Jobs" about="Each job is a process of its own: closing this page or the server stops none." />
      {list.length === 0 ? (
        <Empty title="Nothing runs and nothing waits.">
          <LinkButton kind="main" href={link("design")}>
            Design a search
          </LinkButton>
        </Empty>
      ) : (
        <div class="cards">
          {group("Running", ["running", "stopping"], server ? `Up to ${server.jobs_at_once} at once; others wait.` : "")}
          {group("Waiting", ["queued"], "In this order.")}
          {group("Ended", ["done", "stopped", "failed"], "")}
        </div>
      )}
    </>
  );
}
