// What is looked at: along which column, from where to where, and where the others are held.

import { el, field, select } from "./elements.js";
import { place } from "./sliders.js";
import { shift, zoom } from "./stage.js";
import { column, store } from "./store.js";
import { dateText, daysOf, digits } from "./units.js";

export function lookBar() {
  const bar = document.getElementById("look");
  let shape = "";
  let ends = () => {};

  return (workspace) => {
    const seen = column(workspace, workspace.view.column);
    const now = JSON.stringify([workspace.kind, workspace.columns, workspace.view.column]);
    if (now !== shape) {
      shape = now;
      bar.replaceChildren(...(workspace.kind === "field" ? [again("another field")] : controls(workspace, seen)));
    }
    ends(workspace);
  };

  function controls(workspace, seen) {
    const along = workspace.columns.length > 1
      ? field("along", select(workspace.columns.map((one) => [one.name, one.name]), seen.name, lookAlong)) : null;
    const others = workspace.columns.filter((one) => one !== seen);
    return [
      el("div", { className: "row wrap" }, along, ...span(seen), again()),
      others.length ? el("div", { className: "slices" },
        el("p", { className: "fine" }, "The other columns are held here:"),
        ...others.map((one) => slice(workspace, one))) : null,
    ].filter(Boolean);
  }

  function span(seen) {
    if (seen.kind === "category") return [];
    const isDate = seen.kind === "date";
    const input = (end) => el("input", {
      type: isDate ? "date" : "text", className: "end", "aria-label": `look ${end === "low" ? "from" : "to"}`,
      onchange: (event) => {
        const value = isDate ? daysOf(seen.first, event.target.value) : Number(event.target.value.replace("−", "-"));
        const view = { ...store.workspace.view, [end]: value };
        if (isFinite(value) && event.target.value !== "" && view.low < view.high) {
          store.change((w) => void (w.view[end] = value));
        } else ends(store.workspace);
      },
    });
    const [low, high] = [input("low"), input("high")];
    ends = (workspace) => {
      for (const [one, value] of [[low, workspace.view.low], [high, workspace.view.high]]) {
        one.value = isDate ? dateText(seen.first, value) : digits(value, 4);
      }
    };
    const button = (words, label, act) => el("button", { className: "quiet", title: label, "aria-label": label, onclick: act }, words);
    return [
      field("from", low), field("to", high),
      el("div", { className: "row" },
        button("←", "look further left", () => shift(-0.25)), button("→", "look further right", () => shift(0.25)),
        button("+", "look closer", () => zoom(0.7)), button("−", "look from further away", () => zoom(1 / 0.7))),
    ];
  }

  function again(words = "other functions") {
    return el("button", { className: "quiet", id: "again", title: "R", onclick: otherFunctions }, words);
  }
}

export function otherFunctions() {
  store.change((w) => void (w.view.seed += 1));
}

function lookAlong(name) {
  store.change((w) => {
    w.view = { ...w.view, column: name, ...wide(column(w, name)) };
  });
}

// A column's range, and some more on the right: the future of dates.
export function wide({ low, high, kind }) {
  const width = high - low;
  if (kind === "category") return { low: 0, high: 1 };
  return { low: low - 0.05 * width, high: high + (kind === "date" ? 0.2 : 0.05) * width };
}

function slice(workspace, one) {
  const at = workspace.view.at[one.name] ?? one.middle;
  const move = (value) => store.change((w) => void (w.view.at[one.name] = Number(value)), `at-${one.name}`);
  if (one.kind === "category") {
    return field(one.name, select(one.levels.map((level, i) => [String(i), level]), String(Math.round(at)), move));
  }
  const say = (value) => (one.kind === "date" ? dateText(one.first, value) : digits(value));
  return place({ label: one.name, low: one.low, high: one.high, value: at, say, change: move });
}
