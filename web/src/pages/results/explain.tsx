// What decided a prediction: contributions as bars, or the rows that are near.
import { barsHeight, drawBars, type Bar } from "../../charts/bars";
import { Picture } from "../../charts/picture";
import { general, settingText } from "../../lib/format";
import { Card } from "../../ui/basic";
import { Table } from "../../ui/table";

export type Explanation = Record<string, string | number | null>[];

/** Of two classes, the one that positive decisions speak for. */
export function towardsOf(columns: string[]): string | undefined {
  const decisions = columns.filter((name) => name.startsWith("decision for "));
  return decisions.length === 1 ? decisions[0]!.slice("decision for ".length) : undefined;
}

export function ExplanationCard({ list, title, towards }: { list: Explanation; title: string; towards?: string | undefined }) {
  if (list.length === 0) return null;
  const first = list[0]!;
  if (!("contribution" in first)) return <NeighbourTable list={list} title={title} />;
  const named = list.filter((row) => row["feature"] !== "(intercept)");
  const base = list.find((row) => row["feature"] === "(intercept)")?.["contribution"];
  const bars = named.map((row): Bar => {
    const contribution = Number(row["contribution"]);
    const value = row["value"];
    return {
      name: value == null ? String(row["feature"]) : `${row["feature"]} = ${settingText(typeof value === "number" ? Number(value.toPrecision(4)) : value)}`,
      value: contribution,
      label: `${contribution >= 0 ? "+" : ""}${general(contribution, 3)}`,
      colour: contribution >= 0 ? 0 : 1,
    };
  });
  const of = first["class"] ?? towards;
  return (
    <Picture
      title={title}
      about={`How much each column moves the decision away from that of the average row${typeof base === "number" ? ` (${general(base, 4)})` : ""}.`}
      height={barsHeight(bars.length)}
      legend={[
        { colour: 0, text: of ? `speaks for ${of}` : "speaks for the decision" },
        { colour: 1, text: "speaks against it" },
      ]}
      draw={(pen) => drawBars(pen, bars, "contribution")}
      data={() => ({ columns: Object.keys(first), rows: list.map((row) => Object.keys(first).map((key) => row[key])) })}
      keys={[JSON.stringify(list)]}
    />
  );
}

function NeighbourTable({ list, title }: { list: Explanation; title: string }) {
  const keys = Object.keys(list[0]!);
  return (
    <Card title={title} about="The rows of the training data that determine the prediction.">
      <Table
        label={title}
        rows={list.map((row, k) => ({ row, k }))}
        id={({ k }) => String(k)}
        columns={keys.map((key) => ({
          name: key,
          title: key.replace(/_/g, " "),
          right: typeof list[0]![key] === "number",
          cell: ({ row }: { row: Explanation[number] }) => (typeof row[key] === "number" ? general(row[key] as number, 5) : String(row[key] ?? "")),
        }))}
      />
    </Card>
  );
}
