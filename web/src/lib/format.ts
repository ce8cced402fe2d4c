// Numbers as people read them, the same as in the terminal and in reports (src/core/text.cpp).

/** As printf's %.{digits}g. */
export function general(value: number, digits = 6): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "-";
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  if (exponent < -4 || exponent >= digits) {
    const [lead, power] = value.toExponential(digits - 1).split("e") as [string, string];
    const sign = power[0] === "-" ? "-" : "+";
    return trimZeros(lead) + "e" + sign + power.replace(/^[+-]/, "").padStart(2, "0");
  }
  return trimZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** 12,345,678. */
export function grouped(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Whole numbers grouped, others with four significant digits. */
export function brief(value: number): string {
  const size = Math.abs(value);
  if (size < 1e15 && (Number.isInteger(value) || size >= 1e3)) return grouped(value);
  return general(value, 4);
}

/** A score with four digits; "-": not defined. */
export function score(value: number | null | undefined): string {
  return value == null || !Number.isFinite(value) ? "-" : value.toFixed(4);
}

/** "0.93 %", with as many digits as small shares need. */
export function percent(share: number): string {
  const value = share * 100;
  const digits = value >= 100 ? 0 : value === 0 || value >= 10 ? 1 : value >= 0.1 ? 2 : 4;
  return value.toFixed(digits) + " %";
}

export interface Summary {
  mean: number | null;
  standard_deviation?: number | null;
  standard_error?: number | null;
  splits?: number;
}

/** 0.8286 ± 0.0401: mean and standard deviation. */
export function spread(summary: Summary | undefined | null): string {
  if (!summary || summary.mean == null) return "-";
  if (!summary.splits || summary.standard_deviation == null) return score(summary.mean);
  return `${score(summary.mean)} ± ${score(summary.standard_deviation)}`;
}

/** 1200 -> "1,200", 25000 -> "25k", 0.001 -> "0.001". */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return general(value / 1e9) + "G";
  if (size >= 1e6) return general(value / 1e6) + "M";
  if (size >= 1e4) return general(value / 1e3) + "k";
  if (size >= 1e3) return grouped(value);
  return general(size < 1e-12 ? 0 : value, 4);
}

export function bytes(count: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; ++unit) count /= 1024;
  return unit === 0 ? plural(count, "byte") : `${count.toFixed(1)} ${units[unit]}`;
}

/** 3.2 s, 4 min 10 s, 2 h 5 min. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/** "4 minutes ago", or the date of what is older than a week. */
export function ago(time: number, now = Date.now() / 1000): string {
  const seconds = Math.max(0, now - time);
  const count = (value: number, unit: string) => `${value} ${unit}${value === 1 ? "" : "s"} ago`;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return count(Math.max(1, Math.round(seconds / 60)), "minute");
  if (seconds < 86400) return count(Math.round(seconds / 3600), "hour");
  if (seconds < 7 * 86400) return count(Math.round(seconds / 86400), "day");
  return new Date(time * 1000).toISOString().slice(0, 10);
}

/** The name of a setting or score for people: cost -> C, l1_ratio -> l1-ratio. */
export function axisTitle(name: string): string {
  return name === "cost" ? "C" : name.replace(/_/g, "-");
}

/** A value of a setting: 0.0883883, rbf. */
export function settingText(value: number | string | boolean | null | undefined): string {
  if (value == null) return "-";
  return typeof value === "number" ? general(value, 6) : String(value);
}

export function plural(count: number, word: string, many = word + "s"): string {
  return `${grouped(count)} ${count === 1 ? word : many}`;
}

/** A note of a command without the file, which the page names, and flags in brackets: here there are buttons and fields. */
export function plainNote(text: string, file: string): string {
  return text.replace(`${file}: `, "").replace(/ \(--[^)]*\)/g, "");
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const titles = new Map<string, string>();

/** Scores have names for people, which the parameter table knows. */
export function nameScores(metrics: { name: string; title: string }[]): void {
  for (const { name, title } of metrics) titles.set(name, title);
}

export function scoreTitle(name: string): string {
  return titles.get(name) ?? name;
}
