// Data: a table from disk, a pasted one, or points that are clicked.

import { el, field, marked, select } from "./elements.js";
import { wide } from "./look.js";
import { post, send } from "./server.js";
import { addPoint } from "./stage.js";
import { axis, blank, store } from "./store.js";
import { dateText, daysOf } from "./units.js";

export function dataSheet(complain, usePreset) {
  let opened = null;
  let busy = false;
  const sheet = el("div", { className: "data" });

  const file = el("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,.parquet,.pq", onchange: () => {
    if (file.files[0]) openFile(file.files[0]);
    file.value = "";
  } });
  const text = el("textarea", { id: "paste", rows: 4, placeholder: "date,level\n2020-01-01,3.1\n2020-02-01,3.4", "aria-label": "a table as text" });

  async function openFile(one) {
    await open(one.name, await one.arrayBuffer());
  }

  async function open(name, bytes) {
    busy = true;
    show(store.workspace);
    try {
      opened = await send("tables", name, bytes);
      const numbers = opened.numeric.length ? opened.numeric : opened.columns;
      await choose(numbers.at(-1));
    } catch (error) {
      complain(error.message);
    }
    busy = false;
    show(store.workspace);
  }

  async function choose(target, second = null) {
    try {
      const isField = store.workspace.kind === "field";
      const found = await post("rows", { id: opened.id, target, ...(isField ? { second: second ?? opened.numeric.at(-2) } : {}) });
      complain(null);
      const before = store.workspace;
      store.change((w) => ({ ...w, ...found, noise: Number((0.1 * found.target.spread).toPrecision(2)),
        terms: [{ std: Number(found.target.spread.toPrecision(2)), factors: [{ family: "matern52", columns: [],
          values: { lengthscale: 1.5 } }] }],
        view: { ...w.view, column: first(found).name, ...wide(first(found)), at: {} } }));
      if (!isField) await usePreset(before.terms.some(seasonal) ? "seasonal_with_trend" : "smooth", true);
    } catch (error) {
      complain(error.message);
    }
  }

  const first = ({ columns }) => columns.find((one) => one.kind === "date") ?? columns.find((one) => one.kind === "number") ?? columns[0];
  const seasonal = (term) => term.factors.some((factor) => factor.family === "periodic");

  function clear() {
    opened = null;
    store.change((w) => {
      const empty = blank();
      if (w.kind === "field") return { ...w, rows: empty.rows, source: empty.source };
      if (w.source.kind !== "table") return { ...w, rows: empty.rows, source: empty.source };
      return { ...empty, hidden: w.hidden };
    });
  }

  function show(workspace) {
    if (sheet.parentElement?.hidden) return;
    const { source } = workspace;
    const parts = [
      el("section", { className: "card" },
        el("h2", {}, "A table"),
        el("p", { className: "fine" }, "CSV or Parquet. It stays on this machine."),
        el("div", { className: "row" }, el("label", { className: "button", tabIndex: 0, htmlFor: "file",
          onkeydown: (event) => event.key === "Enter" && file.click() }, busy ? "opening …" : "choose a file"), file),
        el("details", { open: text.value !== "" }, el("summary", {}, "or paste one"), text,
          el("button", { id: "use-paste", onclick: () => open("pasted.csv", text.value) }, "use it")),
        ...(source.kind === "table" ? aboutTable(workspace) : [])),
      source.kind === "table" ? null : pointsCard(workspace),
      source.kind === "none" && workspace.kind === "function" ? axisCard(workspace) : null,
      source.kind === "none" ? null : el("button", { className: "add", id: "clear", onclick: clear }, "remove the data"),
    ];
    sheet.replaceChildren(...parts.filter(Boolean));
  }

  function aboutTable(workspace) {
    const { source, target } = workspace;
    const names = opened?.id === source.id ? (opened.numeric.length ? opened.numeric : opened.columns) : [target.name];
    const second = workspace.kind === "field" && opened?.id === source.id
      ? field("second component", select(names.map((n) => [n, n]), workspace.second ?? "", (name) => choose(target.name, name))) : null;
    return [
      el("p", {}, el("code", {}, source.name), ` has ${source.num_rows.toLocaleString("en").replaceAll(",", " ")} rows.`),
      field(workspace.kind === "field" ? "first component" : "predict",
        select(names.map((name) => [name, name]), target.name, (name) => choose(name), { id: "target" })),
      second,
      el("p", { className: "fine", id: "sample" }, source.sample ?? ""),
      ...(source.notes ?? []).map((note) => el("p", { className: "fine" }, ...marked(note))),
    ].filter(Boolean);
  }

  function pointsCard(workspace) {
    const isField = workspace.kind === "field";
    const names = isField ? [...workspace.columns.map((one) => one.name), "first", "second"]
      : [workspace.columns[0].name, workspace.target.name];
    const isDate = !isField && workspace.columns[0].kind === "date";
    const inputs = names.map((name, i) => el("input", { type: i === 0 && isDate ? "date" : "text", inputMode: "decimal",
      "aria-label": name, placeholder: name, className: "end" }));
    const read = (input, i) => i === 0 && isDate ? daysOf(workspace.columns[0].first, input.value)
      : input.value.trim() === "" ? NaN : Number(input.value);
    const add = (event) => {
      event.preventDefault();
      const values = inputs.map(read);
      if (!values.every(isFinite)) return complain("expected a number in every box of a point.");
      complain(null);
      if (isField) addPoint(values.slice(0, 2), values.slice(2));
      else addPoint([values[0]], values[1]);
    };
    return el("section", { className: "card" },
      el("h2", {}, "Points"),
      el("p", { className: "fine" }, isField
        ? "Press in a picture and pull to add an arrow; click its tail to remove it. Or type one:"
        : "Click in a picture to add a point, on a point to remove it. Or type one:"),
      el("form", { className: "row wrap", onsubmit: add }, ...inputs, el("button", {}, "add")),
      el("p", { className: "fine", id: "num-points" }, `${workspace.rows.y.length} ${isField ? "arrows" : "points"} so far.`));
  }

  function axisCard(workspace) {
    const one = workspace.columns[0];
    const rename = (move) => store.change((w) => {
      move(w);
      const [now] = w.columns;
      w.terms.forEach((term) => term.factors.forEach((factor) => { factor.columns = [now.name]; }));
      w.view = { ...w.view, column: now.name, low: now.low, high: now.high, at: {} };
    });
    const kinds = [["number", "numbers"], ["date", "dates"]];
    return el("section", { className: "card" },
      el("h2", {}, "Axes"),
      el("div", { className: "row wrap" },
        field("along", el("input", { type: "text", value: one.name, className: "end", onchange: (event) =>
          rename((w) => { w.columns[0].name = event.target.value || "x"; }) })),
        field("of", select(kinds, one.kind, (kind) => rename((w) => {
          w.columns[0] = kind === "date" ? axis(one.name, 0, 1826, 0, "date", "2020-01-01") : axis(one.name, 0, 10, 0);
          const width = w.columns[0].high;
          w.terms = [{ std: w.terms[0].std, factors: [{ family: "matern52", columns: [], values: { lengthscale: kind === "date" ? 365.2425 : 0.15 * width } }] }];
        }))),
        ...(one.kind === "date" ? [
          field("from", el("input", { type: "date", value: one.first, onchange: (event) =>
            event.target.value && rename((w) => { w.columns[0].first = event.target.value; }) })),
          field("to", el("input", { type: "date", value: dateText(one.first, one.high), onchange: (event) => {
            const high = daysOf(one.first, event.target.value);
            if (high > 0) rename((w) => { w.columns[0].high = high; w.columns[0].middle = high / 2; });
          } })),
        ] : ["low", "high"].map((end) => field(end === "low" ? "from" : "to", el("input", {
          type: "text", className: "end", value: one[end], onchange: (event) => {
            const value = Number(event.target.value);
            const next = { ...one, [end]: value };
            if (event.target.value.trim() !== "" && isFinite(value) && next.low < next.high) rename((w) => { w.columns[0][end] = value; });
            else event.target.value = one[end];
          } })))),
        field("value", el("input", { type: "text", value: workspace.target.name, className: "end", onchange: (event) =>
          store.change((w) => void (w.target.name = event.target.value || "y")) })),
        field("around", el("input", { type: "text", value: workspace.target.centre, className: "end", onchange: (event) => {
          const value = Number(event.target.value);
          if (isFinite(value)) store.change((w) => void (w.target.centre = value));
        } }))));
  }

  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, (event) => {
      event.preventDefault();
      if (kind === "drop" && event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
    });
  }
  return { sheet, show, use: async (table, target) => {
    opened = table;
    if (target) await choose(target);
    else await choose((table.numeric.length ? table.numeric : table.columns).at(-1));
  } };
}
