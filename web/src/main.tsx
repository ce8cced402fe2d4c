import { render } from "preact";

import { App } from "./app";
import "./app.css";
import { follow } from "./lib/store";

follow();
const root = document.getElementById("app")!;
root.replaceChildren(); // what was shown until this script was there
render(<App />, root);
