// The score of each split as a dot.
import { Picture } from "../../charts/picture";
import { at, linear, scoreAxis } from "../../charts/scale";
import { score as scoreText, scoreTitle } from "../../lib/format";

export function FoldScores(props: { title: string; about: string; metric: string; scores: (number | null)[]; mean: number | null; names?: string; inner?: (number | null)[] }) {
  const { scores, metric, mean, inner } = props;
  const word = props.names ?? "split";
  const known = [...scores, ...(inner ?? [])].filter((value): value is number => value != null);
  if (known.length === 0) return null;
  return (
    <Picture
      title={props.title}
      about={props.about}
      height={250}
      legend={inner ? [{ colour: 0, text: "on rows that the search had not seen" }, { colour: "soft", text: "within its search" }] : []}
      draw={(pen) => {
        const bottom = pen.height - 50;
        const x = linear(0.5, scores.length + 0.5, 58, pen.width - 14);
        const y = scoreAxis(known, bottom, 30);
        pen.leftAxis(y, 58, pen.width - 14, scoreTitle(metric));
        const every = Math.max(1, Math.ceil((30 * scores.length) / (pen.width - 80)));
        if (mean != null) pen.line(58, at(y, mean), pen.width - 14, at(y, mean), { stroke: pen.theme.soft, dash: [4, 4] });
        scores.forEach((value, k) => {
          const px = at(x, k + 1);
          if (k % every === 0) pen.text(px, bottom + 16, String(k + 1), { colour: pen.theme.soft, size: 11, anchor: "middle" });
          const within = inner?.[k];
          if (within != null && value != null) pen.line(px, at(y, within), px, at(y, value), { stroke: pen.theme.rule, width: 1.5 });
          if (within != null) pen.circle(px, at(y, within), 4, { stroke: pen.theme.soft, width: 1.5 });
          if (value == null) return;
          pen.circle(px, at(y, value), 5, { fill: pen.theme.colours[0]! });
          pen.spot(px, at(y, value), 6, `${word} ${k + 1}\n${scoreTitle(metric)} ${scoreText(value)}${within == null ? "" : `\nwithin its search ${scoreText(within)}`}`);
        });
        pen.text((58 + pen.width - 14) / 2, bottom + 34, word, { colour: pen.theme.soft, anchor: "middle" });
      }}
      data={() => ({ columns: inner ? [word, metric, "inner"] : [word, metric], rows: scores.map((value, k) => (inner ? [k + 1, value, inner[k]] : [k + 1, value])) })}
      keys={[JSON.stringify(scores), mean]}
    />
  );
}
