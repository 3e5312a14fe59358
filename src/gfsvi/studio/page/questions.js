// Questions that elicit: which of these functions could be yours?

import { drawChart } from "./chart.js";
import { el } from "./elements.js";
import { post } from "./server.js";
import { column, store } from "./store.js";
import { digits, said, snapped } from "./units.js";

export function questionsSheet(complain) {
  let answers = [];
  let asked = null;
  const shown = el("div", { className: "functions" });
  const belief = el("p", { id: "belief", "aria-live": "polite" });
  const use = el("button", { id: "use-belief", onclick: apply, disabled: true }, "use these numbers");
  const sheet = el("div", {}, el("section", { className: "card" },
    el("h2", {}, "Which of these could be yours?"),
    el("p", { className: "fine" }, "Choose those that look like what you expect, however many, and go on."),
    shown,
    el("div", { className: "row" },
      el("button", { id: "answer", className: "main", onclick: answer }, "go on"),
      el("button", { className: "quiet", onclick: () => { answers = []; ask(); } }, "begin anew")),
    belief, use));

  async function ask() {
    try {
      asked = await post("elicit", { workspace: store.workspace, answers });
      complain(null);
      draw();
    } catch (error) {
      asked = null;
      shown.replaceChildren();
      belief.replaceChildren(error.message);
    }
  }

  function draw() {
    const seen = column(store.workspace, store.workspace.view.column);
    const all = asked.functions.flatMap((one) => one.values);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const room = 0.06 * (high - low) || 1;
    const canvases = asked.functions.map(() => el("canvas", {}));
    shown.replaceChildren(...asked.functions.map((one, i) => el("button", {
      className: "function", "aria-pressed": "false", "aria-label": `function ${i + 1}`,
      onclick: (event) => {
        const button = event.currentTarget;
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      } }, canvases[i])));
    canvases.forEach((canvas, i) => drawChart(canvas, {
      x: [asked.along[0], asked.along.at(-1)], y: [low - room, high + room],
      isDate: seen.kind === "date", first: seen.first,
      layers: [{ kind: "line", along: asked.along, values: asked.functions[i].values, colour: "blue", width: 1.8 }] }));
    const factor = asked.doubt.map((one) => digits(Math.exp(one), 2));
    const length = said(snapped(asked.lengthscale, seen.kind === "date"), seen.kind === "date");
    belief.replaceChildren(asked.num_answers
      ? `So far: a length scale of about ${length} (up to a factor of ${factor[0]}) and a size of about ${digits(asked.std)} (up to a factor of ${factor[1]}).${
        asked.settled ? " That is enough." : ""}` : "");
    use.disabled = !asked.num_answers;
  }

  function answer() {
    if (!asked) return ask();
    const pressed = [...shown.children].map((button) => button.getAttribute("aria-pressed") === "true");
    answers = [...answers, ...asked.functions.map((one, i) => ({ length: one.length, std: one.std, chosen: pressed[i] }))];
    ask();
  }

  function apply() {
    store.change((w) => {
      const term = w.terms.find(({ factors }) => factors.length === 1
        && ["rbf", "matern12", "matern32", "matern52"].includes(factors[0].family));
      const [factor] = term.factors;
      const seen = column(w, w.view.column);
      const one = factor.columns.length === 1 ? column(w, factor.columns[0]) : w.columns.length === 1 ? w.columns[0] : null;
      const spread = w.features.length ? w.features[seen.features[0]].spread : 1;
      factor.values.lengthscale = one ? snapped(asked.lengthscale, one.kind === "date")
        : Number((asked.lengthscale / spread).toPrecision(3));
      term.std = Number(asked.std.toPrecision(3));
    });
  }

  return { sheet, show: () => {}, open: () => (asked ? draw() : ask()), forget: () => { asked = null; answers = []; } };
}
