// Vector fields: arrows on a grid, and arrows that are drawn with the pointer.

import { colours, drawChart } from "./chart.js";
import { el } from "./elements.js";
import { addPoint, removePoint } from "./stage.js";

export function arrowCharts(figures, places, answer, workspace) {
  const [across, up] = workspace.columns;
  const axes = { x: padded(across), y: padded(up), xLabel: across.name, yLabel: up.name, layers: [] };
  const size = reach(answer.prior, workspace);
  for (const [name, arrows, colour] of [["prior", answer.prior, "blue"], ["exact", answer.mean, "blue"]]) {
    const { canvas, box, legend } = figures[name];
    if (box.hidden || !arrows) continue;
    const place = drawChart(canvas, axes);
    if (!place) continue;
    const cell = ((place.box.right - place.box.left) / 15) * 1.05;
    const context = canvas.getContext("2d");
    const ink = colours();
    answer.positions.forEach((at, i) => {
      const alpha = name === "exact" ? 1 - 0.85 * answer.novelty[i] : 0.9;
      arrow(context, place, at, arrows[i], cell / size, ink[colour], alpha, 1.5, 0.5);
    });
    workspace.rows.x.forEach((at, i) =>
      arrow(context, place, at, workspace.rows.y[i], cell / size, ink.orange, 1, 2.6));
    places[name] = { ...place, begin: (event) => pull(event, canvas, place, cell / size, workspace) };
    legend.replaceChildren(...legends(name, workspace));
    canvas.setAttribute("aria-label", `${name === "prior" ? "A field of the prior" : "The field after data"}. ${
      answer.sentences.join(" ").replaceAll("`", "")}`);
  }
}

const padded = ({ low, high }) => [low - 0.06 * (high - low), high + 0.06 * (high - low)];

// The speed that is drawn as long as a cell of the grid.
function reach(arrows, workspace) {
  const typical = Math.hypot(workspace.field.swirl, workspace.field.sources);
  const given = workspace.rows.y.map(([u, v]) => Math.hypot(u, v));
  return Math.max(2.2 * typical, ...given) || 1;
}

// `back` is the share of the arrow that is behind its position.
function arrow(context, place, [x, y], [u, v], scale, colour, alpha, width, back = 0) {
  const from = [place.toX(x) - back * u * scale, place.toY(y) + back * v * scale];
  const to = [from[0] + u * scale, from[1] - v * scale];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  context.globalAlpha = alpha;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const head = Math.min(3 + 2 * width, 0.6 * length + 1.5);
  context.beginPath();
  context.moveTo(to[0] + 0.4 * head * Math.cos(angle), to[1] + 0.4 * head * Math.sin(angle));
  for (const side of [2.6, -2.6]) {
    context.lineTo(to[0] + head * Math.cos(angle + side), to[1] + head * Math.sin(angle + side));
  }
  context.fill();
  context.globalAlpha = 1;
}

// Press where the arrow begins and let go where it ends; a click on an arrow's tail removes it.
function pull(event, canvas, place, scale, workspace) {
  const from = [event.offsetX, event.offsetY];
  const hit = workspace.rows.x.findIndex(([x, y]) =>
    Math.hypot(place.toX(x) - from[0], place.toY(y) - from[1]) < 9);
  canvas.setPointerCapture(event.pointerId);
  canvas.addEventListener("pointerup", (end) => {
    const [u, v] = [(end.offsetX - from[0]) / scale, (from[1] - end.offsetY) / scale];
    const far = Math.hypot(end.offsetX - from[0], end.offsetY - from[1]) > 4;
    if (hit >= 0 && !far) removePoint(hit);
    else if (far) addPoint([place.fromX(from[0]), place.fromY(from[1])], [u, v]);
  }, { once: true });
}

function legends(name, workspace) {
  const item = (kind, words) => el("span", { className: `key ${kind}` }, words);
  const drawn = workspace.rows.y.length ? [item("line orange", "observed")] : [];
  if (name === "prior") return [item("line blue", "one field of the prior"), ...drawn];
  return [item("line blue", "mean, fainter where it is less known"), ...drawn];
}
