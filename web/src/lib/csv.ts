export type Cell = string | number | null | undefined;

function field(cell: Cell): string {
  if (cell == null || (typeof cell === "number" && !Number.isFinite(cell))) return "";
  const text = String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csvText(columns: string[], rows: Cell[][]): string {
  return [columns, ...rows].map((row) => row.map(field).join(",") + "\n").join("");
}

/** Offers a file to the browser's downloads. */
export function save(content: Blob | string, type: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A file name made of a title. */
export function fileName(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "picture";
}
