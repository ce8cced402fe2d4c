import type { Route } from "../lib/router";
import { TaskPage } from "./taskpage";

export function Rescoring({ route }: { route: Route }) {
  return (
    <TaskPage
      route={route}
      task="rescore"
      title="Rescoring"
      about="Learns from decoys which peptide-spectrum matches of a search engine are correct, by Percolator's method."
      kind="psms"
      several
      dropTitle="Drop a PIN, pepXML or mzIdentML file here"
    />
  );
}
