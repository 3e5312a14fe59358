// Can the network express the prior? Functions of both side by side, and their spectra.

import { drawChart } from "./chart.js";
import { el, field, marked } from "./elements.js";
import { latestWins } from "./server.js";
import { column, store } from "./store.js";
import { digits } from "./units.js";

export function networkSheet(complain) {
  const functions = el("canvas", { className: "small", role: "img", id: "canvas-functions", "aria-label": "functions of prior and network" });
  const spectra = el("canvas", { className: "small", role: "img", id: "canvas-spectra", "aria-label": "spectra of prior and network" });
  const verdict = el("div", { id: "verdict", "aria-live": "polite" });
  const widths = [0, 1].map((layer) => el("input", {
    type: "number", min: 1, max: 200, className: "end", "aria-label": `width of layer ${layer + 1}`,
    onchange: (event) => {
      const width = Math.round(Number(event.target.value));
      if (width >= 1 && width <= 200) store.change((w) => void (w.hidden[layer] = width));
      else event.target.value = store.workspace.hidden[layer];
    },
  }));
  const sheet = el("div", {},
    el("section", { className: "card" },
      el("h2", {}, "Can the network express it?"),
      el("div", { className: "row" }, ...widths.map((one, i) => field(`layer ${i + 1}`, one))),
      verdict,
      el("figure", {}, el("figcaption", {}, el("strong", {}, "Functions")), functions,
        el("p", { className: "legend" }, el("span", { className: "key line blue" }, "prior"), el("span", { className: "key dashed orange" }, "network"))),
      el("figure", {}, el("figcaption", {}, el("strong", {}, "Spectra"), " ", el("span", {}, "shares of the variance, by direction")), spectra,
        el("p", { className: "legend" }, el("span", { className: "key line blue" }, "prior"), el("span", { className: "key dashed orange" }, "network")))));
  let latest = null;

  const ask = latestWins("express", (answer) => { latest = answer; draw(); }, complain);

  function draw() {
    if (!latest || sheet.parentElement?.hidden) return;
    const workspace = store.workspace;
    const seen = column(workspace, workspace.view.column);
    const { along, prior, network } = latest;
    const lines = [[prior, "blue", []], [network, "orange", [6, 3]]].flatMap(([found, colour, dash]) =>
      found.draws.slice(0, 3).map((values) => ({ kind: "line", along, values, colour, dash, width: 1.4 })));
    const all = lines.flatMap((line) => line.values);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const room = 0.05 * (high - low) || 1;
    drawChart(functions, { x: [along[0], along.at(-1)], y: [low - room, high + room], layers: lines,
      isDate: seen.kind === "date", first: seen.first, levels: seen.levels });
    drawSpectra(latest.spectra);
    const percent = digits(100 * latest.missing, 2);
    verdict.replaceChildren(
      el("p", {}, `${percent} % of the prior's variance is out of the network's reach.`),
      latest.warning
        ? el("div", { className: "callout" }, el("strong", {}, latest.warning[0]), el("p", {}, ...marked(latest.warning[1])),
          el("p", { className: "remedy" }, latest.warning[2]))
        : el("p", { className: "good" }, "The network can follow this prior."));
  }

  function drawSpectra({ prior, network }) {
    const along = prior.map((_, i) => i + 1);
    const foot = -10;
    const bounded = (values) => values.map((value) => Math.max(value, foot));
    const powers = [0, -2, -4, -6, -8, -10].map((p) => [p, p === 0 ? "1" : `10${superscript(p)}`]);
    drawChart(spectra, { x: [1, along.length], y: [foot, 0.3], yTicks: powers, xLabel: "direction", layers: [
      { kind: "line", along, values: bounded(prior), colour: "blue", width: 2 },
      { kind: "line", along, values: bounded(network), colour: "orange", width: 2, dash: [6, 3] },
    ] });
  }

  function show(workspace) {
    if (sheet.parentElement?.hidden) return;
    widths.forEach((one, i) => { if (document.activeElement !== one) one.value = workspace.hidden[i] ?? ""; });
    if (workspace.kind === "field") {
      verdict.replaceChildren(el("p", { className: "fine" }, "For fields, the studio shows the exact process."));
      return;
    }
    ask({ workspace });
  }
  return { sheet, show, draw };
}

const superscript = (number) => [...String(number)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
