// The prior as blocks: terms that are added, each a product of blocks on columns.

import { el, field, select } from "./elements.js";
import { slider } from "./sliders.js";
import { column, store } from "./store.js";

const MAX_TERMS = 6;
const MAX_FACTORS = 4;
const IN_DEVIATIONS = { low: 0.05, high: 50, start: 1.5 };

// The column in whose units a block is stated; null for standard deviations.
export function unitColumn(workspace, factor) {
  const names = factor.columns.length ? factor.columns : workspace.columns.map((one) => one.name);
  const seen = names.length === 1 ? column(workspace, names[0]) : null;
  return seen && seen.kind !== "category" ? seen : null;
}

function bounds(workspace, factor, parameter) {
  if (!parameter.unit) return parameter;
  const seen = unitColumn(workspace, factor);
  if (!seen) return IN_DEVIATIONS;
  const width = seen.high - seen.low;
  return { low: parameter.low * width, high: parameter.high * width, start: parameter.start * width };
}

export function priorSheet(families) {
  const sheet = el("div", { className: "blocks" });
  const family = (name) => families.find((one) => one.name === name);
  let shape = "";
  let sliders = [];

  const show = (workspace, key) => {
    if (workspace.kind === "field") return showField(sheet, workspace, key, () => (shape = ""));
    const now = JSON.stringify([workspace.kind, workspace.columns, workspace.target.name,
      workspace.target.spread, workspace.terms.map((term) => term.factors.map((f) => [f.family, f.columns]))]);
    if (now === shape) return sliders.forEach((one) => one(workspace));
    shape = now;
    sliders = [];
    sheet.replaceChildren(
      ...workspace.terms.flatMap((term, i) => [
        i ? el("p", { className: "sign", "aria-hidden": "true" }, "+") : null,
        termCard(workspace, term, i),
      ]).filter(Boolean),
      el("button", {
        className: "add", disabled: workspace.terms.length >= MAX_TERMS, onclick: addTerm,
      }, "+ add a block"),
      noiseCard(workspace),
    );
  };

  const termCard = (workspace, term, i) => {
    const { spread, name } = workspace.target;
    const size = slider({
      label: "size", low: 0.01 * spread, high: 10 * spread, value: term.std, id: `size-${i}`,
      change: (value) => store.change((w) => void (w.terms[i].std = value), `std-${i}`),
    });
    size.title = `standard deviation of this part, in the units of ${name}`;
    sliders.push((w) => size.show(w.terms[i].std));
    return el("section", { className: "card", "aria-label": `part ${i + 1} of the prior` },
      ...term.factors.flatMap((factor, j) => [
        j ? el("p", { className: "sign", "aria-hidden": "true" }, "×") : null,
        factorBlock(workspace, factor, i, j),
      ]).filter(Boolean),
      size,
      el("div", { className: "row" },
        el("button", {
          className: "quiet", disabled: term.factors.length >= MAX_FACTORS,
          onclick: () => store.change((w) => void w.terms[i].factors.push(fresh(w, "matern52"))),
        }, "× multiply"),
        el("button", {
          className: "quiet", disabled: workspace.terms.length < 2,
          onclick: () => store.change((w) => void w.terms.splice(i, 1)),
          "aria-label": `remove part ${i + 1}`,
        }, "remove"),
      ),
    );
  };

  const factorBlock = (workspace, factor, i, j) => {
    const kind = family(factor.family);
    const seen = unitColumn(workspace, factor);
    const controls = kind.parameters.map((parameter) => {
      const { low, high } = bounds(workspace, factor, parameter);
      const made = slider({
        label: parameter.words, low, high, value: factor.values[parameter.name],
        isDate: parameter.unit && seen?.kind === "date",
        unit: parameter.unit && !seen ? "sd" : "",
        id: `${parameter.name}-${i}-${j}`,
        change: (value) => store.change(
          (w) => void (w.terms[i].factors[j].values[parameter.name] = value), `${parameter.name}-${i}-${j}`),
      });
      if (parameter.unit && !seen) made.title = "in standard deviations of the columns";
      sliders.push((w) => made.show(w.terms[i].factors[j].values[parameter.name]));
      return made;
    });
    const head = el("div", { className: "row head" },
      select(families.map((one) => [one.name, one.words]), factor.family, (name) =>
        store.change((w) => void (w.terms[i].factors[j] = fresh(w, name, w.terms[i].factors[j]))),
      { "aria-label": "kind of block" }),
      columnChoice(workspace, factor, i, j),
      workspace.terms[i].factors.length > 1
        ? el("button", { className: "quiet", "aria-label": "remove this factor", onclick: () =>
          store.change((w) => void w.terms[i].factors.splice(j, 1)) }, "✕")
        : null);
    return el("div", { className: "block" }, head, ...controls);
  };

  const columnChoice = (workspace, factor, i, j) => {
    const names = workspace.columns.map((one) => one.name);
    if (names.length === 1) return el("span", { className: "on" }, "along ", el("code", {}, names[0]));
    const said = factor.columns.length === 0 ? "all columns"
      : factor.columns.length === 1 ? factor.columns[0] : `${factor.columns.length} columns`;
    const pick = (name, isOn) => store.change((w) => {
      const block = w.terms[i].factors[j];
      const all = block.columns.length ? block.columns : names;
      const kept = names.filter((one) => (one === name ? isOn : all.includes(one)));
      if (kept.length) block.columns = kept.length === names.length ? [] : kept;
      w.terms[i].factors[j] = fresh(w, block.family, block);
    });
    return el("details", { className: "columns" },
      el("summary", {}, "on ", el("code", {}, said)),
      el("div", { className: "menu" },
        el("div", { className: "row" }, ...names.slice(0, 1).map(() => el("button", {
          className: "quiet", onclick: () => store.change((w) => {
            w.terms[i].factors[j].columns = [];
            w.terms[i].factors[j] = fresh(w, factor.family, w.terms[i].factors[j]);
          }) }, "all"))),
        ...names.map((name) => el("div", { className: "row" },
          el("label", {}, el("input", {
            type: "checkbox", checked: !factor.columns.length || factor.columns.includes(name),
            onchange: (event) => pick(name, event.target.checked) }), ` ${name}`),
          el("button", { className: "quiet", onclick: () => store.change((w) => {
            w.terms[i].factors[j].columns = [name];
            w.terms[i].factors[j] = fresh(w, factor.family, w.terms[i].factors[j]);
          }) }, "only"))),
      ));
  };

  // A block of a family; sliders of the same meaning and unit stay where they are.
  const fresh = (workspace, name, old = null) => {
    const columns = old ? old.columns : workspace.columns.length > 1 ? [] : [workspace.columns[0].name];
    const made = { family: name, columns, values: {} };
    for (const parameter of family(name).parameters) {
      const { low, high, start } = bounds(workspace, made, parameter);
      const before = old?.values[parameter.name];
      const fits = before >= low && before <= high && (old.family !== "periodic") === (name !== "periodic");
      made.values[parameter.name] = fits ? before : Number((start).toPrecision(2));
    }
    return made;
  };

  const addTerm = () => store.change((w) => {
    w.terms.push({ std: Number((w.target.spread / 2).toPrecision(2)), factors: [fresh(w, "matern52")] });
  });

  const noiseCard = (workspace) => {
    const { spread, name } = workspace.target;
    const noise = slider({
      label: "noise", low: 0.001 * spread, high: 2 * spread, value: workspace.noise, id: "noise",
      change: (value) => store.change((w) => void (w.noise = value), "noise"),
    });
    sliders.push((w) => noise.show(w.noise));
    noise.title = `standard deviation of single observations of ${name}`;
    return el("section", { className: "card plain", "aria-label": "noise of observations" }, noise);
  };

  return { sheet, show };
}

let showing = "";
let fieldSliders = [];

function showField(sheet, workspace, key, forget) {
  const now = JSON.stringify([workspace.kind, workspace.columns, workspace.field.family]);
  if (now === showing && sheet.querySelector(".field-prior")) {
    return fieldSliders.forEach((one) => one(workspace));
  }
  forget();
  showing = now;
  const width = workspace.columns[0].high - workspace.columns[0].low;
  const rows = [
    ["lengthscale", "length scale", 0.02 * width, 2 * width],
    ["swirl", "swirls", 0.001, 20],
    ["sources", "sources and sinks", 0.001, 20],
  ];
  fieldSliders = [];
  const controls = rows.map(([name, label, low, high]) => {
    const made = slider({ label, low, high, value: workspace.field[name], id: `field-${name}`,
      change: (value) => store.change((w) => void (w.field[name] = value), `field-${name}`) });
    fieldSliders.push((w) => made.show(w.field[name]));
    return made;
  });
  const noise = slider({ label: "noise", low: 0.001, high: 5, value: workspace.noise, id: "noise",
    change: (value) => store.change((w) => void (w.noise = value), "noise") });
  fieldSliders.push((w) => noise.show(w.noise));
  sheet.replaceChildren(
    el("section", { className: "card field-prior", "aria-label": "the field" },
      field("smoothness", select([["rbf", "very smooth"], ["matern52", "smooth"]], workspace.field.family,
        (value) => store.change((w) => void (w.field.family = value)))),
      ...controls),
    el("section", { className: "card plain" }, noise),
    el("button", { className: "add", onclick: () => store.change(() => store.functionAgain()) },
      "back to functions"),
  );
}
