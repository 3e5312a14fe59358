// The pictures: before data, and after them under the exact process and the network.

import { drawChart } from "./chart.js";
import { el, marked } from "./elements.js";
import { arrowCharts } from "./field.js";
import { column, store } from "./store.js";
import { digits } from "./units.js";

const NAMES = {
  prior: ["Before data", "functions that the prior allows"],
  exact: ["After data: exact process", "mean, 95 % band and functions"],
  network: ["After data: network", "mean, 95 % band and functions"],
};
const FIELD_NAMES = { prior: "a field that the prior allows", exact: "mean" };
const NEAR = 12; // pixels within which a click means a point that is there

export function stage() {
  const pictures = document.getElementById("pictures");
  const choices = document.getElementById("choices");
  const places = {};
  const figures = {};
  const words = {};
  let chosen = null;
  let latest = null;
  let ranges = {};

  for (const [name, [title, told]] of Object.entries(NAMES)) {
    const canvas = el("canvas", { role: "img", tabIndex: 0, id: `canvas-${name}` });
    const legend = el("p", { className: "legend" });
    words[name] = el("span", {}, told);
    figures[name] = { canvas, legend, box: el("figure", { id: `figure-${name}` },
      el("figcaption", {}, el("strong", {}, title), " ", words[name]), canvas, legend) };
    pictures.append(figures[name].box);
    canvas.addEventListener("pointerdown", (event) => begin(event, name));
    canvas.addEventListener("wheel", (event) => turn(event, name), { passive: false });
  }

  function show(answer) {
    latest = answer;
    const workspace = store.workspace;
    document.getElementById("sentences").replaceChildren(
      ...answer.sentences.map((sentence) => el("li", {}, ...marked(sentence))));
    const names = workspace.kind === "field" ? fieldNames(answer) : functionNames(answer);
    pictures.dataset.count = names.length;
    if (!names.includes(chosen)) chosen = names.at(-1);
    choices.replaceChildren(...(names.length > 1 ? names.map((name) => el("button", {
      role: "tab", "aria-selected": String(name === chosen), onclick: () => { chosen = name; show(latest); },
    }, NAMES[name][0].replace("After data: ", ""))) : []));
    for (const [name, { box }] of Object.entries(figures)) {
      box.hidden = !names.includes(name);
      box.classList.toggle("chosen", name === chosen);
      words[name].textContent = workspace.kind === "field" ? FIELD_NAMES[name] ?? "" : NAMES[name][1];
    }
    draw();
  }

  const functionNames = (answer) => (answer.exact ? ["prior", "exact", "network"] : ["prior"]);
  const fieldNames = (answer) => (answer.mean ? ["prior", "exact"] : ["prior"]);

  function draw() {
    if (!latest) return;
    const workspace = store.workspace;
    if (workspace.kind === "field") return arrowCharts(figures, places, latest, workspace);
    const seen = column(workspace, workspace.view.column);
    ranges = rangesOf(latest, workspace, seen, ranges);
    const axes = {
      x: seen.kind === "category" ? [-0.5, seen.levels.length - 0.5] : [workspace.view.low, workspace.view.high],
      isDate: seen.kind === "date", first: seen.first, levels: seen.levels,
      xLabel: seen.name, yLabel: workspace.target.name,
    };
    for (const name of Object.keys(NAMES)) {
      const { canvas, box, legend } = figures[name];
      if (box.hidden || !latest[name]) continue;
      const y = name === "prior" ? ranges.prior : ranges.after;
      const layers = name === "prior" ? before(latest) : after(latest, name, y);
      const colour = name === "network" ? "orange" : "blue";
      places[name] = drawChart(canvas, { ...axes, y, layers: [...layers, ...dots(workspace, name)] });
      legend.replaceChildren(...legends(name, colour, workspace, latest));
      canvas.setAttribute("aria-label", `${NAMES[name].join(": ")}. ${latest.sentences.join(" ").replaceAll("`", "")}`);
    }
  }

  function before({ along, prior }) {
    return [
      { kind: "band", along, low: prior.low, high: prior.high, colour: "blue", alpha: 0.13 },
      { kind: "line", along, values: prior.mean, colour: "muted", width: 1, dash: [5, 4] },
      ...prior.draws.map((values, i) => ({ kind: "line", along, values, width: 1.6, alpha: 0.95,
        colour: ["blue", "orange", "green"][i % 3], dash: [[], [7, 3], [2, 3]][Math.floor(i / 3) % 3] })),
    ];
  }

  function after(answer, name, [foot]) {
    const { along, novelty } = answer;
    const found = answer[name];
    const colour = name === "network" ? "orange" : "blue";
    return [
      { kind: "band", along, low: found.low_observed, high: found.high_observed, colour: "muted", alpha: 0.1 },
      { kind: "band", along, low: found.low, high: found.high, colour, alpha: 0.2 },
      ...found.draws.map((values) => ({ kind: "line", along, values, colour, width: 0.9, alpha: 0.55 })),
      { kind: "line", along, values: found.mean, colour, width: 2.4 },
      { kind: "strip", along, values: novelty, colour: "green", foot },
    ];
  }

  function legends(name, colour, workspace, answer) {
    const item = (kind, words) => el("span", { className: `key ${kind}` }, words);
    if (name === "prior") {
      return [item("band blue", "95 % of values"), item("line blue", `${workspace.view.draws} functions`),
        item("short muted", "mean")];
    }
    const trained = el("small", {}, name === "network"
      ? (answer.is_trained ? "trained" : "trained when you let go")
      : `log evidence per row ${digits(answer.evidence)}`);
    return [item(`line ${colour}`, "mean"), item(`band ${colour}`, "95 % of functions"),
      item("band muted", "95 % of observations"), item("band green", "novelty"), trained];
  }

  // The rows, fainter the further they are from the slice that is looked at.
  function dots(workspace, name) {
    const { x, y } = workspace.rows;
    if (!y.length) return [];
    const seen = column(workspace, workspace.view.column);
    const along = x.map((row) => seen.kind === "category"
      ? seen.features.findIndex((f) => row[f] > 0.5) : row[seen.features[0]]);
    const alphas = x.map((row) => (name === "prior" ? 0.35 : 0.85) * near(workspace, row, seen));
    return [{ kind: "points", along, values: y, alphas, colour: "ink", size: y.length > 150 ? 2.2 : 3.4 }];
  }

  function near(workspace, row, seen) {
    let squared = 0;
    for (const other of workspace.columns) {
      if (other === seen || !workspace.features.length) continue;
      const at = workspace.view.at[other.name] ?? other.middle;
      if (other.kind === "category") {
        squared += row[other.features[Math.round(at)]] > 0.5 ? 0 : 2;
      } else {
        squared += ((row[other.features[0]] - at) / workspace.features[other.features[0]].spread) ** 2;
      }
    }
    return Math.max(0.06, Math.exp((-0.5 * squared) / Math.max(1, workspace.columns.length - 1)));
  }

  function begin(event, name) {
    const workspace = store.workspace;
    const place = places[name];
    if (!place || event.button || workspace.source.kind === "table") return;
    const point = [event.offsetX, event.offsetY];
    const inside = point[0] > place.box.left && point[0] < place.box.right
      && point[1] > place.box.top && point[1] < place.box.bottom;
    if (!inside) return;
    if (workspace.kind === "field") return place.begin(event);
    const { x, y } = workspace.rows;
    const hit = y.findIndex((value, i) =>
      Math.hypot(place.toX(x[i][0]) - point[0], place.toY(value) - point[1]) < NEAR);
    if (hit >= 0) return removePoint(hit);
    addPoint([place.fromX(point[0])], place.fromY(point[1]));
  }

  function turn(event, name) {
    const place = places[name];
    if (!place || store.workspace.kind === "field" || !(event.ctrlKey || event.shiftKey)) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, place.fromX(event.offsetX));
  }

  new ResizeObserver(draw).observe(pictures);
  return { show, draw, forget: () => { ranges = {}; } };
}

const rounded = (value) => Number(value.toPrecision(6));

export function addPoint(x, y) {
  store.change((w) => {
    w.source = { kind: "points" };
    w.rows.x.push(x.map(rounded));
    w.rows.y.push(Array.isArray(y) ? y.map(rounded) : rounded(y));
  });
}

export function removePoint(number) {
  store.change((w) => {
    w.rows.x.splice(number, 1);
    w.rows.y.splice(number, 1);
    if (!w.rows.y.length) w.source = { kind: "none" };
  });
}

export function zoom(factor, centre = null) {
  store.change((w) => {
    const middle = centre ?? (w.view.low + w.view.high) / 2;
    w.view.low = middle - (middle - w.view.low) * factor;
    w.view.high = middle + (w.view.high - middle) * factor;
  }, "zoom");
}

export function shift(share) {
  store.change((w) => {
    const move = share * (w.view.high - w.view.low);
    w.view.low += move;
    w.view.high += move;
  }, "shift");
}

const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))];

function rangesOf(answer, workspace, seen, before) {
  const prior = held([quantile(answer.prior.low, 0.1), quantile(answer.prior.high, 0.9)], before.prior);
  if (!answer.exact) return { prior };
  const { low, high } = workspace.view;
  const inView = workspace.rows.y.filter((_, i) => {
    const x = workspace.rows.x[i][seen.features[0]];
    return seen.kind === "category" || (x >= low && x <= high);
  });
  const ends = [Math.min(...answer.exact.low_observed), Math.max(...answer.exact.high_observed), ...inView];
  return { prior, after: held([Math.min(...ends), Math.max(...ends)], before.after) };
}

// The range of the vertical axis: it holds still while what is drawn fits well.
function held([low, high], before) {
  const room = 0.12 * (high - low) || 1;
  if (!before) return [low - room, high + room];
  const size = (high - low) / (before[1] - before[0]);
  const fits = low >= before[0] && high <= before[1] && size > 0.45;
  return fits ? before : [low - room, high + room];
}
