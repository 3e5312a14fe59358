// A chart on a canvas: bands, lines and points over axes, in the colours of the page.

import { dateTicks, numberTicks } from "./ticks.js";

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "muted", "faint", "surface", "blue", "orange", "green", "raised"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// A canvas as large as its box, in the pixels of the screen.
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const wanted = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) [canvas.width, canvas.height] = wanted;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  return { context, width, height };
}

// Draw a chart and return how to go from data to pixels and back.
export function drawChart(canvas, chart) {
  const { context, width, height } = prepared(canvas);
  if (!width || !height) return null;
  const ink = colours();
  const [low, high] = chart.y;
  const yTicks = chart.yTicks ?? numberTicks(low, high, Math.max(2, Math.floor(height / 55)));
  const widest = Math.max(...yTicks.map(([, text]) => context.measureText(text).width), 10);
  const box = { left: Math.ceil(widest) + 14, right: width - 12, top: chart.yLabel ? 26 : 10 };
  box.bottom = height - (chart.xLabel ? 42 : 24);
  const toX = (value) => box.left + ((value - chart.x[0]) / (chart.x[1] - chart.x[0])) * (box.right - box.left);
  const toY = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
  grid(context, box, ink, xTicks(chart, context, box), yTicks, toX, toY);
  names(context, box, ink, chart, width, height);
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  for (const layer of chart.layers) layers[layer.kind](context, layer, toX, toY, ink);
  context.restore();
  const fromX = (pixel) => chart.x[0] + ((pixel - box.left) / (box.right - box.left)) * (chart.x[1] - chart.x[0]);
  const fromY = (pixel) => low + ((box.bottom - pixel) / (box.bottom - box.top)) * (high - low);
  return { box, toX, toY, fromX, fromY };
}

function xTicks(chart, context, box) {
  const room = box.right - box.left;
  if (chart.levels?.length) return chart.levels.map((level, i) => [i, level.slice(0, 12)]);
  const most = Math.max(2, Math.floor(room / 85));
  if (chart.isDate) return dateTicks(chart.x[0], chart.x[1], chart.first, most);
  return numberTicks(chart.x[0], chart.x[1], most);
}

function grid(context, box, ink, xs, ys, toX, toY) {
  context.lineWidth = 1;
  context.strokeStyle = ink.faint;
  context.fillStyle = ink.muted;
  context.beginPath();
  for (const [value] of xs) {
    const x = Math.round(toX(value)) + 0.5;
    context.moveTo(x, box.top);
    context.lineTo(x, box.bottom);
  }
  for (const [value] of ys) {
    const y = Math.round(toY(value)) + 0.5;
    context.moveTo(box.left, y);
    context.lineTo(box.right, y);
  }
  context.globalAlpha = 0.7;
  context.stroke();
  context.globalAlpha = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  let free = -Infinity;
  for (const [value, text] of xs) {
    const half = context.measureText(text).width / 2;
    const x = Math.min(Math.max(toX(value), half + 2), box.right + 12 - half);
    if (x - half < free) continue;
    context.fillText(text, x, box.bottom + 7);
    free = x + half + 8;
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, text] of ys) context.fillText(text, box.left - 7, toY(value));
}

function names(context, box, ink, chart, width, height) {
  context.fillStyle = ink.muted;
  context.textBaseline = "alphabetic";
  if (chart.xLabel) {
    context.textAlign = "right";
    context.fillText(shortened(context, chart.xLabel, width - 20), box.right, height - 6);
  }
  if (chart.yLabel) {
    context.textAlign = "left";
    context.fillText(shortened(context, chart.yLabel, width - 20), 4, 15);
  }
}

function shortened(context, text, room) {
  const line = text.replace(/\s+/g, " ");
  if (context.measureText(line).width <= room) return line;
  let kept = line;
  while (kept && context.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

const layers = {
  band(context, layer, toX, toY, ink) {
    context.beginPath();
    layer.along.forEach((x, i) => context[i ? "lineTo" : "moveTo"](toX(x), toY(layer.high[i])));
    for (let i = layer.along.length - 1; i >= 0; i -= 1) context.lineTo(toX(layer.along[i]), toY(layer.low[i]));
    context.closePath();
    context.globalAlpha = layer.alpha ?? 0.15;
    context.fillStyle = ink[layer.colour];
    context.fill();
    context.globalAlpha = 1;
  },
  line(context, layer, toX, toY, ink) {
    context.beginPath();
    layer.along.forEach((x, i) => context[i ? "lineTo" : "moveTo"](toX(x), toY(layer.values[i])));
    context.lineJoin = "round";
    context.lineWidth = layer.width ?? 1.5;
    context.setLineDash(layer.dash ?? []);
    context.globalAlpha = layer.alpha ?? 1;
    context.strokeStyle = ink[layer.colour];
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  },
  points(context, layer, toX, toY, ink) {
    context.fillStyle = ink[layer.colour];
    context.strokeStyle = ink.surface;
    context.lineWidth = 1;
    layer.along.forEach((x, i) => {
      context.globalAlpha = layer.alphas ? layer.alphas[i] : 1;
      context.beginPath();
      context.arc(toX(x), toY(layer.values[i]), layer.size ?? 3, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    });
    context.globalAlpha = 1;
  },
  // A strip at the foot of the chart: dark where rows are new.
  strip(context, layer, toX, toY, ink) {
    const [bottom, tall] = [toY(layer.foot), 7];
    context.fillStyle = ink[layer.colour];
    layer.along.slice(1).forEach((x, i) => {
      context.globalAlpha = 0.9 * layer.values[i];
      context.fillRect(toX(layer.along[i]), bottom - tall, toX(x) - toX(layer.along[i]) + 0.6, tall);
    });
    context.globalAlpha = 1;
  },
};
