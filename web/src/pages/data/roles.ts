// Roles of columns as options of reading: label, group, weight ...
import type { Settings } from "../../lib/types";

export const roles = [
  { name: "label", title: "Label: the column to predict", many: false },
  { name: "group", title: "Group: rows that belong together, such as those of a patient", many: false },
  { name: "weight-column", title: "Weight: how much each row counts", many: false },
  { name: "event", title: "Event: whether what the label is the time of has happened", many: false },
  { name: "order", title: "Time: when each row was", many: false },
  { name: "nominal", title: "Nominal: values are levels, even if they are numbers", many: true },
  { name: "ignore", title: "Ignore: leave the column out", many: true },
] as const;

export const listOf = (value: Settings[string] | undefined): string[] =>
  Array.isArray(value) ? value.map(String) : value == null || value === "" ? [] : String(value).split(",");

export function roleOf(reading: Settings, column: string): string | null {
  return roles.find(({ name }) => listOf(reading[name]).includes(column))?.name ?? null;
}

export function withRole(reading: Settings, column: string, role: string | null): Settings {
  const next: Settings = { ...reading };
  for (const { name } of roles) {
    const rest = listOf(next[name]).filter((one) => one !== column);
    if (listOf(next[name]).length !== rest.length) next[name] = rest.join(",") || null;
  }
  const chosen = roles.find(({ name }) => name === role);
  if (chosen) next[chosen.name] = chosen.many ? [...listOf(next[chosen.name]), column].join(",") : column;
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value != null && value !== ""));
}
