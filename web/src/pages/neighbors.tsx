import type { Route } from "../lib/router";
import { TaskPage } from "./taskpage";

export function Neighbors({ route }: { route: Route }) {
  return (
    <TaskPage
      route={route}
      task="neighbors"
      title="Nearest neighbours"
      about="Finds for each row those that are most similar. The result is a table of pairs with their distances."
      kind="table"
      several={false}
      dropTitle="Drop a table here"
    />
  );
}
