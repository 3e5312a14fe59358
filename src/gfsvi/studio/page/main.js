// The page: connects the workspace, its controls and its pictures.

import { dataSheet } from "./data.js";
import { el } from "./elements.js";
import { lookBar, otherFunctions } from "./look.js";
import { networkSheet } from "./network.js";
import { outSheet } from "./out.js";
import { priorSheet } from "./prior.js";
import { questionsSheet } from "./questions.js";
import { get, latestWins, onGone, post } from "./server.js";
import { stage, zoom } from "./stage.js";
import { axis, blank, store } from "./store.js";

const AT_REST = 350; // milliseconds after the last move until everything is drawn with more care
const THEMES = ["auto", "light", "dark"];

const complaint = document.getElementById("complaint");
function complain(sentence) {
  complaint.hidden = !sentence;
  complaint.textContent = sentence ?? "";
}

const pictures = stage();
const showLook = lookBar();
let resting = null;
let drawnRevision = 0;

const look = latestWins("look", (answer, { revision, atRest }) => {
  if (revision < drawnRevision) return;
  drawnRevision = revision;
  complain(null);
  pictures.show(answer);
  requestAnimationFrame(() => {
    document.body.dataset.drawn = String(revision);
    document.body.dataset.rest = String(atRest);
    document.dispatchEvent(new CustomEvent("drawn", { detail: { revision, atRest, milliseconds: answer.milliseconds } }));
  });
}, complain);

function redraw(workspace) {
  look({ workspace, at_rest: false }, { revision: store.revision, atRest: false });
  clearTimeout(resting);
  resting = setTimeout(
    () => look({ workspace: store.workspace, at_rest: true }, { revision: store.revision, atRest: true }), AT_REST);
}

function buildTabs(sheets) {
  const tabs = document.getElementById("tabs");
  const room = document.getElementById("sheets");
  const choose = (name) => {
    for (const [other, { box, tab }] of Object.entries(built)) {
      box.hidden = other !== name;
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
    }
    sheets[name].show(store.workspace);
    sheets[name].open?.();
    sheets[name].draw?.();
  };
  const built = {};
  for (const [name, { sheet }] of Object.entries(sheets)) {
    const tab = el("button", { role: "tab", id: `tab-${name}`, "aria-controls": `sheet-${name}`, onclick: () => choose(name) }, name);
    const box = el("div", { role: "tabpanel", id: `sheet-${name}`, "aria-labelledby": `tab-${name}` }, sheet);
    built[name] = { tab, box };
    tabs.append(tab);
    room.append(box);
  }
  tabs.addEventListener("keydown", (event) => {
    const names = Object.keys(built);
    const at = names.findIndex((name) => built[name].tab === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
    if (to == null) return;
    const name = names[(to + names.length) % names.length];
    choose(name);
    built[name].tab.focus();
  });
  return choose;
}

async function usePreset(name, together = false) {
  try {
    const plain = name !== "flow" && store.workspace.kind === "field" ? functionAgain() : store.workspace;
    const found = await post("preset", { workspace: plain, name });
    complain(null);
    const change = () => {
      pictures.forget();
      if (found.kind === "field") return { ...fieldOf(plain), ...found };
      return { ...plain, ...found };
    };
    if (together) store.amend(change);
    else store.change(change);
  } catch (error) {
    complain(error.message);
  }
}

let beforeField = null;

// A plane for a field; the function's workspace is kept for the way back.
function fieldOf(workspace) {
  if (workspace.kind === "field") return workspace;
  beforeField = workspace;
  return { ...workspace, kind: "field", columns: [axis("x", 0, 10, 0), axis("y", 0, 10, 1)], features: [],
    target: { name: "flow", centre: 0, spread: 1 }, noise: 0.1, source: { kind: "none" }, rows: { x: [], y: [] },
    terms: [{ std: 1, factors: [{ family: "matern52", columns: ["x"], values: { lengthscale: 1.5 } }] }],
    view: { ...workspace.view, column: "x", low: 0, high: 10, at: {} } };
}

function functionAgain() {
  pictures.forget();
  return beforeField ?? blank();
}
store.functionAgain = functionAgain;

function buildTools() {
  document.getElementById("undo").addEventListener("click", () => store.undo());
  document.getElementById("redo").addEventListener("click", () => store.redo());
  const keys = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  document.getElementById("theme").addEventListener("click", nextTheme);
  setTheme(localStorage.getItem("gfsvi-theme") ?? "auto");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pictures.draw());
  onGone((isGone) => { document.getElementById("gone").hidden = !isGone; });
}

function setTheme(name) {
  document.documentElement.dataset.theme = THEMES.includes(name) ? name : "auto";
  document.getElementById("theme").title = `Light or dark: ${name} (T)`;
  localStorage.setItem("gfsvi-theme", name);
  pictures.draw();
}

function nextTheme() {
  const at = THEMES.indexOf(document.documentElement.dataset.theme);
  setTheme(THEMES[(at + 1) % THEMES.length]);
  sheetsToDraw.forEach((sheet) => sheet.draw?.());
}

let sheetsToDraw = [];

function listenToKeys(choose, names) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=range]), textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
      event.preventDefault();
      return event.shiftKey ? store.redo() : store.undo();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { r: otherFunctions, t: nextTheme, "+": () => zoom(0.7), "-": () => zoom(1 / 0.7),
      "?": () => document.getElementById("keys").showModal() };
    if (acts[event.key]) acts[event.key]();
    else if (names[Number(event.key) - 1]) choose(names[Number(event.key) - 1]);
  });
}

async function begin() {
  buildTools();
  let known;
  try {
    known = await get("begin");
  } catch (error) {
    return complain(error.message);
  }
  const data = dataSheet(complain, usePreset);
  const sheets = { prior: priorSheet(known.families), data, network: networkSheet(complain),
    questions: questionsSheet(complain), out: outSheet(complain) };
  sheetsToDraw = Object.values(sheets);
  const choose = buildTabs(sheets);
  document.getElementById("presets").append(...Object.entries(known.presets).map(([name, words]) =>
    el("button", { id: `preset-${name}`, onclick: () => usePreset(name) }, words)));
  window.addEventListener("pagehide", () => store.keep());
  store.listen((workspace, key) => {
    document.body.dataset.revision = String(store.revision);
    document.getElementById("undo").disabled = !store.past.length;
    document.getElementById("redo").disabled = !store.future.length;
    for (const sheet of sheetsToDraw) sheet.show(workspace, key);
    showLook(workspace);
    redraw(workspace);
  });
  const kept = store.kept();
  store.workspace = kept?.format === 1 ? kept : blank();
  choose("prior");
  store.begin(store.workspace);
  listenToKeys(choose, Object.keys(sheets));
  if (known.table && kept?.format !== 1) await data.use(known.table, known.chosen);
  document.body.dataset.ready = "true";
}

begin();
