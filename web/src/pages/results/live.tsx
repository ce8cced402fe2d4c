// A run while it goes on: scores appear as they are computed.
import { useEffect, useRef, useState } from "preact/hooks";

import { address } from "../../lib/api";
import { listen } from "../../lib/events";
import { axisTitle, bytes, duration, grouped, percent, score, scoreTitle, settingText, spread } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import { bestOf, direction, LivePoints, pointText, type Points } from "../../lib/points";
import { parameters } from "../../lib/store";
import type { Job, LiveModel, Progress, RunDetail, Use } from "../../lib/types";
import { Card, CopyBlock, ProgressBar, Tiles } from "../../ui/basic";
import { FoldScores } from "./folds";
import { PointsCards } from "./scores";

/** What the events of a run add up to. */
function useLive(run: RunDetail, active: boolean, onEnd: () => void) {
  const found = useRef(new LivePoints());
  const [shown, set] = useState<Points>(() => found.current.get());
  const [progress, setProgress] = useState<Progress | null>(run.progress);
  const [models, setModels] = useState(0);
  const [use, setUse] = useState<Use | null>(null);
  useEffect(() => {
    if (!active) return;
    let timer: number | undefined;
    let cost = 0;
    // A map of very many points takes long to draw: then it is drawn less often, so that the page stays quick.
    const refresh = () => {
      const begin = performance.now();
      timer = undefined;
      set(found.current.get());
      setModels(found.current.models);
      requestAnimationFrame(() => setTimeout(() => (cost = performance.now() - begin)));
    };
    const stop = listen(address(`runs/${run.id}/events`), {
      scores: (data) => {
        for (const model of (JSON.parse(data) as { models: LiveModel[] }).models) found.current.add(model);
        timer ??= setTimeout(refresh, Math.min(2000, 3 * cost));
      },
      progress: (data) => setProgress(JSON.parse(data) as Progress),
      use: (data) => setUse(JSON.parse(data) as Use),
      state: (data) => {
        const { state } = JSON.parse(data) as { state: string };
        if (state === "running" || state === "queued") return;
        stop();
        onEnd();
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [run.id, active]);
  return { points: shown, progress, models, use, outer: found.current.outer };
}

/** GPUs on which the process has memory; all, if the driver does not say whose memory it is. */
function UseCard({ use }: { use: Use }) {
  const own = use.gpus.filter((gpu) => gpu.own_bytes > 0);
  const gpus = own.length > 0 ? own : use.gpus;
  return (
    <Card title="What it takes of this machine">
      <Tiles
        list={[
          { value: use.cores.toFixed(1), label: "cores busy" },
          { value: bytes(use.memory_bytes), label: "memory" },
          ...gpus.flatMap((gpu) => [
            { value: percent(gpu.load), label: `of the time ${gpu.name} computes` },
            { value: `${bytes(gpu.own_bytes || gpu.used_bytes)} of ${bytes(gpu.total_bytes)}`, label: `memory of ${gpu.name}${gpu.own_bytes > 0 ? "" : ", all programs"}` },
          ]),
        ]}
      />
    </Card>
  );
}

export function Live(props: { run: RunDetail; job: Job | undefined; state: string; onEnd: () => void }) {
  const { run, job, state } = props;
  const table = useLoad(() => parameters(), []);
  const live = useLive(run, state !== "queued", props.onEnd);
  const progress = job?.progress ?? live.progress;
  const metrics = table.value?.metrics ?? [];
  const metric = run.score && live.points.metrics.includes(run.score) ? run.score : (live.points.metrics[0] ?? run.score ?? "score");
  const sign = direction(metrics, metric);
  const best = bestOf(live.points.list, metric, sign);
  const tiles = [];
  if (best) {
    tiles.push({ value: score(best.scores[metric]?.mean), label: `best ${scoreTitle(metric)} so far`, main: true });
    tiles.push({ value: pointText(best.values, settingText, axisTitle), label: "at" });
  }
  if (live.models > 0) tiles.push({ value: grouped(live.models), label: "models scored" });
  if (live.points.list.length > 0) tiles.push({ value: grouped(live.points.list.length), label: "points with scores" });
  if (progress?.seconds_left != null) tiles.push({ value: duration(progress.seconds_left), label: progress.stage.endsWith("this step") ? "left in this step, about" : "left, about" });
  return (
    <>
      {state === "running" && (
        <Card>
          <ProgressBar progress={progress} />
        </Card>
      )}
      {state === "running" && live.use && <UseCard use={live.use} />}
      {tiles.length > 0 && <div class="live-tiles"><Tiles list={tiles} /></div>}
      {live.points.list.length > 0 ? (
        <div class="cards">
          <PointsCards points={live.points} metric={metric} sign={sign} live />
          {best && (
            <FoldScores title="The best point so far, split by split" about={`Mean ${spread(best.scores[metric])}.`} metric={metric} scores={best.scores[metric]?.by_split ?? []} mean={best.scores[metric]?.mean ?? null} />
          )}
        </div>
      ) : (
        state === "running" && <Card title="Scores" about="They appear here as soon as the first models are trained." />
      )}
      {(job?.command || run.command) && (
        <div class="cards">
          <Card title="Command" about="It goes on without this page; the same command with --resume continues it after a stop." wide>
            <CopyBlock text={job?.command || run.command} label="Command" />
          </Card>
        </div>
      )}
    </>
  );
}
