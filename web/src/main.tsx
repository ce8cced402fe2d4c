import { render } from "preact";

import { App } from "./app";
import "./app.css";
import { follow } from "./lib/store";

follow();
render(<App />, document.getElementById("app")!);
