// The form of a task, made from the parameter table, with the same as a command line, as Python and as R beside it.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { ApiError, finished, post } from "../../lib/api";
import { bytes, duration, grouped, plural } from "../../lib/format";
import { useLoad, useSettled } from "../../lib/hooks";
import { go, link } from "../../lib/router";
import { complain, keepDraft, say, status, useStore } from "../../lib/store";
import type { Design, DesignAnswer, Estimate, Job, Parameter, Parameters, Section, Task, Work } from "../../lib/types";
import { Button, Card, CopyBlock, Failure, Notes, Tabs, Waiting } from "../../ui/basic";
import { Field } from "./field";

/** Models that are chosen; none: automatic choice. */
function modelsOf(design: Design): string[] {
  const value = design.settings["model"];
  const names = (Array.isArray(value) ? value.join(",") : String(value ?? "")).split(",");
  return names.filter((name) => name !== "" && name !== "auto");
}

/** Which parameters of a section are shown: those of "Linear models (--model linear)" belong to some models, which must be chosen. */
function shownOf(section: Section, models: string[], kinds: Parameters["kinds"]): Parameter[] {
  const named = (parameter: Parameter) => parameter.kinds.length === 0 || parameter.kinds.some((kind) => models.includes(kind));
  const words = /\(--model ([^)]*)\)/.exec(section.title)?.[1]?.split(/[ ,]+/);
  if (!words || section.parameters.some(({ name }) => name === "model")) return section.parameters.filter(named);
  const chosen = kinds.filter(({ name }) => models.includes(name));
  const families = kinds.filter(({ name }) => words.includes(name)).map(({ family }) => family);
  const ofFamily = chosen.some(({ family }) => families.includes(family));
  const ofSome = (name: string, list: Parameters["kinds"]) => list.some(({ defaults }) => name in defaults);
  return section.parameters.filter((parameter) => named(parameter) && (ofSome(parameter.name, chosen) || (ofFamily && !ofSome(parameter.name, kinds))));
}

export function DesignForm(props: { design: Design; onChange: (design: Design) => void; parameters: Parameters; dataset: ComponentChildren }) {
  const { design, parameters } = props;
  const task = parameters.tasks.find(({ name }) => name === design.task) ?? parameters.tasks[0]!;
  const settled = useSettled(design, 250);
  const ready = settled.datasets.length > 0;
  const checked = useLoad<DesignAnswer | null>((signal) => (ready ? post<DesignAnswer>("design", settled, signal) : Promise.resolve(null)), [JSON.stringify(settled)]);
  const [refused, setRefused] = useState<{ field: string; message: string } | null>(null);
  useEffect(() => keepDraft(design), [JSON.stringify(design)]);
  useEffect(() => setRefused(null), [JSON.stringify(design)]);
  const errors = new Map<string, string>();
  for (const { field, message } of checked.value?.errors ?? []) if (field) errors.set(field, message);
  if (refused) errors.set(refused.field, refused.message);
  const start = async () => {
    try {
      const job = await post<Job>("jobs", design);
      say(`${job.name} was added to the queue.`);
      go(link("runs", job.run));
    } catch (error) {
      if (error instanceof ApiError && error.field) setRefused({ field: error.field, message: error.message });
      complain(error);
    }
  };
  const set = (name: string, value: Design["settings"][string]) => {
    const settings = { ...design.settings, [name]: value };
    if (value === null) delete settings[name];
    props.onChange({ ...design, settings });
  };
  const models = modelsOf(design);
  return (
    <div class="design">
      <div>
        {props.dataset}
        {task.sections.map((section) => (
          <SectionFields key={task.name + section.name} {...{ section, design, models, errors, task }} metrics={parameters.metrics} kinds={parameters.kinds} onSet={set} />
        ))}
      </div>
      <Beside design={settled} answer={checked} ready={ready} plans={task.plans} onStart={start} onName={(name) => props.onChange({ ...design, name })} />
    </div>
  );
}

interface SectionProps {
  section: Section;
  design: Design;
  models: string[];
  errors: Map<string, string>;
  task: Task;
  metrics: Parameters["metrics"];
  kinds: Parameters["kinds"];
  onSet: (name: string, value: Design["settings"][string]) => void;
}

function SectionFields(props: SectionProps) {
  const { section, design, models, errors } = props;
  const shown = shownOf(section, models, props.kinds);
  const set = shown.filter(({ name }) => design.settings[name] != null && design.settings[name] !== "");
  const wrong = shown.some(({ name }) => errors.has(name));
  const [all, setAll] = useState(false);
  // What was set when the form opened stands with the main fields; no field moves while somebody types.
  const [pinned] = useState(() => set.map(({ name }) => name));
  if (shown.length === 0) return null;
  // A task that names none of its own shows all of its first section.
  const bare = section === props.task.sections[0] && !section.parameters.some(({ main }) => main);
  const main = shown.filter((parameter) => bare || parameter.main || pinned.includes(parameter.name));
  const rest = shown.filter((parameter) => !main.includes(parameter));
  const field = (parameter: Parameter) => (
    <Field
      key={parameter.name}
      parameter={parameter}
      value={design.settings[parameter.name]}
      error={errors.get(parameter.name)}
      onChange={(value) => props.onSet(parameter.name, value)}
      metrics={props.metrics}
      kinds={props.kinds}
      lists={props.task.name !== "neighbors"}
    />
  );
  const more = rest.length > 0 && (
    <details class="more" open={all || rest.some(({ name }) => errors.has(name))} onToggle={(event) => setAll(event.currentTarget.open)}>
      <summary>{main.length === 0 ? plural(rest.length, "option") : plural(rest.length, "more option")}</summary>
      <div class="fields more-fields">{rest.map(field)}</div>
    </details>
  );
  const open = wrong || main.length > 0;
  return (
    <details class="section" open={open}>
      <summary>
        {section.title.replace(/ \(--model.*\)$/, "")}
        {set.length > 0 && <span class="soft">{set.map(({ title }) => title).join(", ")} set</span>}
      </summary>
      {main.length > 0 && <div class="fields">{main.map(field)}</div>}
      {more}
    </details>
  );
}

const languages = [
  { name: "command", title: "Command line" },
  { name: "python", title: "Python" },
  { name: "r", title: "R" },
];

function Beside(props: { design: Design; answer: ReturnType<typeof useLoad<DesignAnswer | null>>; ready: boolean; plans: boolean; onStart: () => void; onName: (name: string) => void }) {
  const [language, setLanguage] = useState("command");
  const server = useStore(status);
  const { value: answer, error, again } = props.answer;
  const general = (answer?.errors ?? []).filter(({ field }) => !field);
  const text = answer && (language === "python" ? answer.python : language === "r" ? answer.r : answer.command);
  return (
    <div class="beside">
      <Card title="Start">
        {!props.ready && <p class="about">Choose a dataset first.</p>}
        {error && <Failure error={error} again={again} />}
        {general.length > 0 && <Notes list={general.map(({ message }) => ({ text: message, warning: true }))} />}
        {answer && !answer.valid && general.length === 0 && (
          <Notes list={answer.errors.map(({ field, message }) => ({ text: field && !message.includes(field) ? `${field}: ${message}` : message, warning: true }))} />
        )}
        {answer && (
          <>
            <div class="field">
              <label for="design-name">Folder of the results</label>
              <input id="design-name" value={props.design.name ?? ""} placeholder={answer.name} autocomplete="off" onInput={(event) => props.onName(event.currentTarget.value)} />
            </div>
            {answer.valid && props.plans && <EstimateView design={props.design} />}
            <Button kind="main" disabled={!answer.valid || server?.read_only} onClick={props.onStart}>
              Start
            </Button>
          </>
        )}
      </Card>
      {answer && (
        <Card title="The same elsewhere" about="Always this design, to copy.">
          <Tabs label="Languages" tabs={languages} value={language} onChange={setLanguage}>
            {text ? <CopyBlock text={text} label={languages.find(({ name }) => name === language)!.title} /> : <p class="soft">There is no such call in this language.</p>}
          </Tabs>
        </Card>
      )}
    </div>
  );
}

function EstimateView({ design }: { design: Design }) {
  const settled = useSettled(useMemo(() => ({ ...design, name: undefined }), [JSON.stringify({ ...design, name: "" })]), 500);
  const found = useLoad((signal) => finished<{ estimate: Estimate }>(() => post<Work<{ estimate: Estimate }>>("design/estimate", settled, signal), signal), [JSON.stringify(settled)]);
  if (found.error) return <Notes list={[{ text: found.error.message, warning: true }]} />;
  if (!found.value) return <Waiting what="Estimating" />;
  const { estimate } = found.value;
  const rows: [string, string][] = [];
  if (estimate.title) rows.push(["trains", estimate.title === "auto" ? "models that suit the data" : estimate.title]);
  if (estimate.points > 0) rows.push(["points", grouped(estimate.points)]);
  if (estimate.splits > 0) rows.push(["splits", grouped(estimate.splits)]);
  if (estimate.models > 0) rows.push(["models", grouped(estimate.models)]);
  if (estimate.seconds != null) rows.push(["time, roughly", estimate.seconds < 1 ? "less than 1 s" : duration(estimate.seconds)]);
  if (estimate.bytes > 0) rows.push(["memory, roughly", bytes(estimate.bytes)]);
  if (estimate.device) rows.push(["device", estimate.device]);
  return (
    <>
      <dl class="estimate">
        {rows.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd key={name + "v"}>{value}</dd>
          </>
        ))}
      </dl>
      <Notes list={estimate.notes.map((text) => ({ text }))} />
    </>
  );
}
