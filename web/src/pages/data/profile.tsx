// What `sheaf info` knows of a dataset, as charts, and its notes with what to do about them.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { barsHeight, classBars, drawBars, drawHistogram } from "../../charts/bars";
import { Picture } from "../../charts/picture";
import { finished, get } from "../../lib/api";
import { brief, bytes, duration, grouped, percent, plainNote, plural } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import type { Dataset, Feature, Profile, Rows, Settings, Work } from "../../lib/types";
import { Button, Card, Failure, Notes, Select, Tiles, Waiting } from "../../ui/basic";
import { Table, type Column } from "../../ui/table";
import { withRole } from "./roles";

interface Answer {
  profile: Profile;
  notes?: string[];
}

interface ProfileProps {
  dataset: Dataset;
  onRemedy: (settings: Settings, title: string) => Promise<void>;
  onReading: (reading: Settings) => Promise<void>;
  readOnly: boolean;
}

export function ProfileView(props: ProfileProps) {
  const { dataset } = props;
  const [seconds, setSeconds] = useState(0);
  const loaded = useLoad(
    (signal) => finished<Answer>(() => get<Work<Answer>>(`datasets/${dataset.id}/profile`, {}, signal), signal, setSeconds),
    [dataset.id, dataset.modified, JSON.stringify(dataset.reading)],
  );
  const choice = (label: string) => !props.readOnly && <LabelChoice {...props} label={label} />;
  if (loaded.error)
    return (
      <>
        <Failure error={loaded.error} again={loaded.again} />
        {choice("")}
      </>
    );
  if (!loaded.value) return <Waiting what={seconds > 2 ? `Reading the dataset, ${duration(seconds)}` : "Reading the dataset"} />;
  const { profile, notes = [] } = loaded.value;
  return (
    <>
      <Tiles list={tilesOf(profile)} />
      <div class="cards">
        <FindingsCard profile={profile} notes={notes} {...props} />
        <Label profile={profile} choice={choice(profile.label?.name ?? "")} />
        <Association profile={profile} />
        {profile.sparse && <Nonzeros profile={profile} />}
        <FeatureTable profile={profile} />
      </div>
    </>
  );
}

function tilesOf(p: Profile) {
  const list: { value: string; label: string }[] = [
    { value: grouped(p.rows), label: "rows" },
    { value: grouped(p.features), label: "features" },
  ];
  if (p.sparse) list.push({ value: percent(p.density), label: "of all cells are not 0" });
  if (p.label?.classes) list.push({ value: String(p.label.classes.length), label: p.label.classes.length === 1 ? "class" : "classes" });
  if (p.groups > 0) list.push({ value: grouped(p.groups), label: "groups of rows" });
  list.push({ value: `${brief(p.minimum)} to ${brief(p.maximum)}`, label: p.integers_only ? "whole numbers" : "values" });
  list.push({ value: bytes(p.memory.matrix_bytes), label: "in memory" });
  return list;
}

function FindingsCard(props: ProfileProps & { profile: Profile; notes: string[] }) {
  const [done, set] = useState<string[]>([]);
  const findings = props.profile.findings.map((finding) => ({
    text: plainNote(finding.message, props.dataset.path),
    warning: finding.level === "warning",
    action: finding.remedy && !props.readOnly && (
      <Button
        small
        disabled={done.includes(finding.code)}
        onClick={() => {
          set([...done, finding.code]);
          void props.onRemedy(finding.remedy!.settings, finding.remedy!.title);
        }}
      >
        {done.includes(finding.code) ? "Added to the design" : finding.remedy.title}
      </Button>
    ),
  }));
  const list = [...props.notes.map((text) => ({ text: plainNote(text, props.dataset.path), warning: false, action: null })), ...findings];
  if (list.length === 0) return null;
  return (
    <Card title="Notes" about="Buttons put what a note advises into the design of the next search." wide>
      <Notes list={list} />
    </Card>
  );
}

const mostChoices = 500;

/** Another column to predict. A file that is no table of text, or is too wide for a list, offers none. */
function LabelChoice({ dataset, label, onReading }: ProfileProps & { label: string }) {
  const head = useLoad((signal) => get<Rows>(`datasets/${dataset.id}/rows`, { from: 0, count: 1, first_column: 0, columns: mostChoices }, signal), [dataset.id]);
  const columns = head.value?.columns ?? [];
  if (columns.length < 2 || head.value!.total_columns > mostChoices) return null;
  return (
    <Select
      label="column to predict"
      value={label}
      onChange={(name) => name && void onReading(withRole(dataset.reading ?? {}, name, "label"))}
      options={[...(columns.some(({ name }) => name === label) ? [] : [{ value: label, text: label || "choose" }]), ...columns.map(({ name }) => ({ value: name, text: name }))]}
    />
  );
}

function Label({ profile, choice }: { profile: Profile; choice: ComponentChildren }) {
  const label = profile.label;
  if (!label)
    return (
      <Card title="The label" about="The dataset has no column to predict. Choose one here or under “Rows and columns”.">
        {choice}
      </Card>
    );
  if (!label.classes)
    return (
      <Card title={`The label: ${label.name || "numbers"}`} about="A numeric target: the search predicts a number.">
        {choice}
        <Tiles
          list={[
            { value: `${brief(label.minimum!)} to ${brief(label.maximum!)}`, label: "range" },
            { value: brief(label.mean!), label: "mean" },
            { value: brief(label.standard_deviation!), label: "standard deviation" },
          ]}
        />
      </Card>
    );
  const classes = label.classes.slice(0, 16);
  const rest = label.classes.length - classes.length;
  return (
    <Picture
      title={`The label${label.name ? `: ${label.name}` : ""}`}
      about={`${plural(label.classes.length, "class", "classes")}${rest > 0 ? `, the first ${classes.length} shown` : ""}.`}
      height={barsHeight(classes.length)}
      draw={(pen) => drawBars(pen, classBars(classes), "rows")}
      data={() => ({ columns: ["class", "rows"], rows: label.classes!.map(({ name, count }) => [name, count]) })}
      keys={[label]}
      controls={choice}
      description={`Rows of each class: ${classes.map(({ name, count }) => `${name} ${count}`).join(", ")}`}
    />
  );
}

function Association({ profile }: { profile: Profile }) {
  const features = (profile.strongest ?? []).filter((feature) => feature.correlation != null).slice(0, 15);
  const chance = profile.chance?.correlation;
  if (features.length === 0) return null;
  const beyond = chance == null ? 0 : features.filter((feature) => Math.abs(feature.correlation!) > chance).length;
  return (
    <Picture
      title="Features that go with the label"
      about={
        chance == null
          ? "By rank correlation."
          : `By rank correlation. Dashed: the largest that any feature reached with ${profile.chance!.shuffles} shuffled labels, ${chance.toFixed(3)}. Beyond it: ${beyond} of those shown.`
      }
      height={barsHeight(features.length)}
      draw={(pen) =>
        drawBars(
          pen,
          features.map((feature) => ({
            name: feature.name,
            value: Math.abs(feature.correlation!),
            label: (feature.correlation! >= 0 ? "+" : "") + feature.correlation!.toFixed(3),
            colour: feature.correlation! >= 0 ? 0 : 1,
          })),
          "strength of association",
          chance == null ? undefined : { value: chance, text: "chance" },
        )
      }
      legend={[
        { colour: 0, text: "goes with the label" },
        { colour: 1, text: "goes against it" },
      ]}
      data={() => ({ columns: ["feature", "correlation", "AUC"], rows: (profile.strongest ?? []).map((f) => [f.name, f.correlation, f.auc]) })}
      keys={[profile]}
    />
  );
}

function Nonzeros({ profile }: { profile: Profile }) {
  const steps = profile.row_nonzeros_histogram.map((count, k) => ({
    name: k === 0 ? "0" : k === 1 ? "1" : `${grouped(2 ** (k - 1))}-${grouped(2 ** k - 1)}`,
    count,
  }));
  const first = steps.findIndex(({ count }) => count > 0);
  const shown = steps.slice(Math.max(0, first));
  if (shown.length < 2) return null;
  return (
    <Picture
      title="Non-zeros of each row"
      about={`From ${grouped(profile.shortest_row)} to ${grouped(profile.longest_row)}.`}
      height={260}
      draw={(pen) => drawHistogram(pen, shown, "non-zeros in a row", "rows")}
      data={() => ({ columns: ["non-zeros", "rows"], rows: steps.map(({ name, count }) => [name, count]) })}
      keys={[profile]}
    />
  );
}

function FeatureTable({ profile }: { profile: Profile }) {
  const rows = profile.strongest?.length ? profile.strongest : (profile.varying ?? []);
  if (rows.length === 0) return null;
  const number = (name: keyof Feature, title: string): Column<Feature> => ({
    name,
    title,
    right: true,
    key: (feature) => feature[name] as number,
    cell: (feature) => (feature[name] == null ? "-" : brief(feature[name] as number)),
  });
  const columns: Column<Feature>[] = [
    { name: "name", title: "feature", key: (f) => f.name, cell: (f) => f.name },
    { name: "share", title: "not zero in", right: true, key: (f) => f.nonzeros, cell: (f) => percent(f.nonzeros / profile.rows) },
    number("mean", "mean"),
    number("standard_deviation", "std. dev."),
    number("minimum", "minimum"),
    number("maximum", "maximum"),
  ];
  if (rows.some((f) => f.correlation != null)) columns.push({ ...number("correlation", "correlation"), cell: (f) => (f.correlation == null ? "-" : (f.correlation >= 0 ? "+" : "") + f.correlation.toFixed(3)) });
  if (rows.some((f) => f.auc != null)) columns.push({ ...number("auc", "AUC"), cell: (f) => (f.auc == null ? "-" : f.auc.toFixed(3)) });
  return (
    <Card title={profile.strongest?.length ? "The features that go with the label most" : "The features that vary most"} wide>
      <Table label="Features" rows={rows} columns={columns} id={(feature) => String(feature.position)} />
    </Card>
  );
}
