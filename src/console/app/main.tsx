import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";

const root = document.querySelector("#root");
if (root) {
  applyTheme();
  render(<App />, root);
}
