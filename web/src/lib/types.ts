// What the interface answers (docs/api/openapi.json), and results.json (docs/search.md).
import type { Summary } from "./format";

export type { Summary };
export type Value = string | number | boolean | null;
export type Settings = Record<string, Value | (string | number)[]>;

export interface Device {
  device: string;
  name: string;
  usable: boolean;
  why_not?: string;
  units?: number;
  total_bytes?: number;
  free_bytes?: number;
  detail?: string;
}

export interface Status {
  version: string;
  folder: string;
  read_only: boolean;
  disk_free_bytes: number;
  largest_upload_bytes: number;
  jobs_at_once: number;
}

export interface Dataset {
  id: string;
  path: string;
  name: string;
  kind: "table" | "psms";
  format: string;
  bytes: number;
  modified: number;
  rows: number | null;
  features: number | null;
  reading?: Settings;
}

export interface Feature {
  position: number;
  name: string;
  nonzeros: number;
  minimum: number;
  maximum: number;
  mean: number;
  standard_deviation: number;
  correlation?: number | null;
  auc?: number | null;
  class_means?: number[];
  class_prevalence?: number[];
}

export interface Remedy {
  title: string;
  settings: Settings;
}

export interface Finding {
  level: "warning" | "note";
  code: string;
  message: string;
  remedy: Remedy | null;
}

export interface Profile {
  source: string;
  rows: number;
  features: number;
  sparse: boolean;
  stored: number;
  nonzeros: number;
  density: number;
  minimum: number;
  maximum: number;
  integers_only: boolean;
  constant_features: number;
  zero_features: number;
  empty_rows: number;
  shortest_row: number;
  longest_row: number;
  row_nonzeros_histogram: number[];
  groups: number;
  label: null | {
    name: string;
    kind: "classes" | "numbers";
    classes?: { name: string; count: number }[];
    minimum?: number;
    maximum?: number;
    mean?: number;
    standard_deviation?: number;
  };
  chance?: { correlation: number; shuffles: number } | null;
  strongest?: Feature[];
  varying?: Feature[];
  memory: { matrix_bytes: number };
  findings: Finding[];
}

export type Work<T> = ({ state: "ready" } & T) | { state: "running"; seconds?: number } | { state: "failed"; message: string };

export interface Rows {
  state: "running" | "ready" | "failed";
  message?: string;
  columns: { name: string; kind: "number" | "date" | "text" }[];
  first_column: number;
  total_columns: number;
  from: number;
  total_rows: number | null;
  rows: string[][];
}

export interface Parameter {
  name: string;
  title: string;
  type: "text" | "name" | "yes_no" | "whole_number" | "number" | "texts" | "whole_numbers" | "numbers" | "file";
  value: string;
  help: string;
  default: string | null;
  default_text: string;
  choices: string[];
  several: boolean;
  low: number | null;
  high: number | null;
  list: null | { value: string; help: string; default_text: string; numbers: boolean };
  kinds: string[];
  vector: "row" | "feature" | null;
  main: boolean;
}

export interface Section {
  name: string;
  title: string;
  parameters: Parameter[];
}

export interface Task {
  name: string;
  title: string;
  about: string;
  input: "table" | "psms";
  /** Says what it would take before it starts. */
  plans: boolean;
  sections: Section[];
}

export interface Metric {
  name: string;
  title: string;
  larger_is_better: boolean;
  for: "classes" | "numbers" | "times";
}

export interface Parameters {
  tasks: Task[];
  kinds: { name: string; family: string; about: string; defaults: Record<string, string> }[];
  metrics: Metric[];
}

export interface Design {
  task: string;
  datasets: string[];
  settings: Settings;
  name?: string;
}

export interface DesignAnswer {
  valid: boolean;
  errors: { field: string | null; message: string }[];
  name: string;
  arguments: string[];
  command: string;
  python: string | null;
  r: string | null;
}

export interface Estimate {
  points: number;
  splits: number;
  models: number;
  seconds: number | null;
  bytes: number;
  device: string;
  title: string;
  notes: string[];
}

export interface Progress {
  stage: string;
  done: number;
  total: number;
  seconds: number;
  seconds_left: number | null;
}

/** What a running process takes of the machine. */
export interface Use {
  cores: number;
  memory_bytes: number;
  gpus: { name: string; load: number; used_bytes: number; total_bytes: number; own_bytes: number }[];
}

export type JobState = "queued" | "running" | "stopping" | "stopped" | "done" | "failed";

export interface Job {
  id: string;
  name: string;
  task: string;
  datasets: string[];
  dataset_paths: string[];
  settings: Settings;
  command: string;
  state: JobState;
  run: string;
  position: number | null;
  created: number;
  started: number | null;
  ended: number | null;
  exit_code: number | null;
  message: string;
  progress: Progress | null;
}

export interface Run {
  id: string;
  path: string;
  name: string;
  kind: "search" | "study" | "rescore" | "select" | "neighbors" | "unknown";
  state: "queued" | "running" | "stopped" | "done" | "failed";
  source: string | null;
  dataset: string | null;
  model: string | null;
  title: string | null;
  score: string | null;
  score_title: string | null;
  value: number | null;
  standard_error: number | null;
  nested: boolean;
  verdict: string | null;
  begun: number | null;
  modified: number;
  seconds: number | null;
  job: string | null;
}

export interface RunDetail extends Run {
  files: { name: string; bytes: number; table: boolean }[];
  progress: Progress | null;
  message: string;
  command: string;
}

export interface TablePage {
  columns: string[];
  from: number;
  total_rows: number;
  rows: (string | number | null)[][];
}

export interface Inputs {
  label: string | null;
  columns: { name: string; kind: "number" | "nominal"; levels: string[]; example: string }[];
  total_columns: number;
  rows: string[][];
}

export interface Prediction {
  id: string;
  state: "running" | "ready" | "failed";
  message?: string;
  model: string;
  columns: string[];
  from: number;
  total_rows: number;
  rows: (string | number | null)[][];
  explanations?: Record<string, string | number | null>[][];
  scores: Record<string, unknown> | null;
  warnings: string[];
  notes: string[];
}

export type Point = Record<string, number | string>;

export interface LiveModel {
  level: number;
  split: number;
  point: Point;
  scores: Record<string, number | null>;
  size: number | null;
}

export interface OuterFold extends Record<string, unknown> {
  inner: Summary;
  scores: Record<string, number | null>;
}

export interface StableFeature {
  index: number;
  name: string;
  frequency: number;
  mean_weight: number | Record<string, number> | null;
  sign_agreement: number | Record<string, number> | null;
  median_rank: number;
  standard_deviation: number;
}

/** results.json of a search or a study. */
export interface Results {
  source: string;
  rows: number;
  features: number;
  groups: number | null;
  label: string | null;
  classes: string[];
  targets: string[];
  positive_class: string | null;
  positive_decisions_speak_for: string | null;
  model: string;
  title: string;
  split: string;
  splits: number;
  seed: number;
  score: string;
  asked: Record<string, unknown>;
  verdict?: string;
  models?: {
    model: string;
    title: string;
    points: number;
    dropped_after_splits: number | null;
    score: Summary;
    difference: number | null;
    interval: [number, number] | null;
    best: Point | null;
    pipeline: Record<string, unknown>;
  }[];
  stack?: { members: { model: string; weight: number; point: Point }[] };
  chosen?: Record<string, unknown> & { best: Point };
  points?: Record<string, unknown>[];
  largest_weights?: { class: string | null; weights: { position: number; name: string; weight: number }[] }[];
  threshold?: {
    rule: string;
    decision: number;
    sensitivity: number;
    specificity: number;
    elsewhere: { sensitivity: number; specificity: number } | null;
  };
  reliability?: { low: number; high: number; rows: number; mean_probability: number | null; share_true: number | null }[];
  calibrated?: { log_loss: Summary; brier_score: Summary };
  learning_curve?: { share: number; rows: number; training: Summary; held_out: Summary }[];
  importance?: ({ index: number; name: string } & Summary)[];
  permutation_test?: { score: number; shuffled: number[]; p_value: number };
  outer: null | ({ folds: OuterFold[] } & Record<string, Summary | OuterFold[]>);
  stability?: {
    value: number | null;
    interval: [number | null, number | null];
    by_chance: null | { permutations: number; mean: number; largest: number };
    min_frequency: number;
    selected: string[];
    features: StableFeature[];
    best: Point;
    points: (Record<string, unknown> & Summary)[];
  };
  path?: {
    resample: number | null; // null: all rows
    chosen: Point;
    alphas: number[];
    columns: { class: string | null; features: { index: number; name: string; effects: number[] }[] }[];
  };
  warnings: string[];
  notes: string[];
}

/** results.json of rescoring. */
export interface RescoreResults {
  initial_accepted: number;
  trained_accepted: number;
  psms: { targets: number; decoys: number; accepted: number; pi0: number };
  peptides: { targets: number; decoys: number; accepted: number; pi0: number };
  iterations: { estimated: number; tested: number }[];
  features: string[];
  weights: number[][];
  normalised_weights: number[][];
  confidence: string;
  search: string;
  fell_back: boolean;
  options: Record<string, Value>;
  warnings: string[];
}
