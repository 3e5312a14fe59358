// Out: code, command line and TOML; a workspace to keep; a full fit with its report.

import { download, el } from "./elements.js";
import { get, latestWins, post } from "./server.js";
import { store } from "./store.js";

const FORMS = { python: "Python", command: "command", toml: "TOML" };
const FILES = { python: "prior.py", command: "prior.sh", toml: "prior.toml" };

export function outSheet(complain) {
  let form = "python";
  let code = {};
  const text = el("code", { id: "code" });
  const forms = el("div", { className: "tabs inner", role: "tablist", "aria-label": "form" });
  const points = el("button", { className: "quiet", hidden: true, onclick: () => download("points.csv", code.points, "text/csv") }, "points.csv");
  const copied = el("span", { className: "fine", role: "status" });
  const open = el("input", { type: "file", id: "workspace-file", accept: ".json", onchange: async () => {
    const [one] = open.files;
    if (one) await openWorkspace(one);
    open.value = "";
  } });
  const fitting = fitCard(complain);
  const sheet = el("div", {},
    el("section", { className: "card" },
      el("h2", {}, "Take it with you"), forms, el("pre", { tabIndex: 0 }, text),
      el("div", { className: "row wrap" },
        el("button", { id: "copy", onclick: copy }, "copy"),
        el("button", { className: "quiet", onclick: () => download(FILES[form], code[form]) }, "download"), points, copied)),
    el("section", { className: "card" },
      el("h2", {}, "Workspace"),
      el("p", { className: "fine" }, "All that you see, in one file: prior, rows that are looked at, and view."),
      el("div", { className: "row" },
        el("button", { id: "save", onclick: () => download("prior.studio.json", JSON.stringify(store.workspace, null, 1), "application/json") }, "save"),
        el("label", { className: "button", htmlFor: "workspace-file", tabIndex: 0,
          onkeydown: (event) => event.key === "Enter" && open.click() }, "open"), open)),
    fitting.card);

  const ask = latestWins("export", (answer) => { code = answer; write(); complain(null, "export"); }, complain);

  async function openWorkspace(one) {
    try {
      const workspace = JSON.parse(await one.text());
      await post("check", { workspace });
      store.change(() => workspace);
      complain(null);
    } catch (error) {
      complain(error instanceof SyntaxError ? `expected a workspace that the studio has saved; got ${one.name}, which is not JSON.` : error.message);
    }
  }

  function write() {
    text.textContent = code[form] ?? "";
    points.hidden = !code.points;
    forms.replaceChildren(...Object.entries(FORMS).map(([name, words]) => el("button", {
      role: "tab", "aria-selected": String(name === form), onclick: () => { form = name; write(); } }, words)));
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(code[form]);
      copied.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(text);
      copied.textContent = "selected; press Ctrl+C";
    }
    setTimeout(() => { copied.textContent = ""; }, 2500);
  }

  return { sheet, show: (workspace) => { if (!sheet.parentElement?.hidden) ask({ workspace }, "export"); } };
}

function fitCard(complain) {
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "progress of the fit" });
  const words = el("p", { className: "fine", id: "fit-words", role: "status" });
  const begin = el("button", { id: "fit", className: "main", onclick: start }, "fit all rows");
  const stop = el("button", { id: "stop", hidden: true, onclick: () => post(`fits/${number}/stop`, {}) }, "stop");
  const links = el("p", { className: "row wrap" });
  let number = null;
  let began = 0;

  async function start() {
    try {
      ({ number } = await post("fits", { workspace: store.workspace }));
    } catch (error) {
      return complain(error.message);
    }
    complain(null);
    began = performance.now();
    links.replaceChildren();
    running(true);
    follow();
  }

  const running = (isOn) => {
    bar.hidden = stop.hidden = !isOn;
    begin.disabled = isOn;
  };

  async function follow() {
    let told;
    try {
      told = await get(`fits/${number}`);
    } catch (error) {
      running(false);
      words.textContent = error.message;
      return;
    }
    const seconds = Math.round((performance.now() - began) / 1000);
    if (told.state === "running") {
      bar.value = told.share;
      words.textContent = `${told.stage}, ${seconds} s`;
      return setTimeout(follow, 500);
    }
    running(false);
    words.textContent = told.state === "done" ? `Done in ${seconds} s.` : told.sentence;
    if (told.state !== "done") return;
    links.replaceChildren(
      el("a", { href: `fits/${number}/report`, target: "_blank", rel: "noopener", id: "report" }, "open the report"),
      el("a", { href: `fits/${number}/model`, download: "model.gfsvi" }, "download the model"),
      ...told.remarks.map((remark) => el("span", { className: "fine" }, remark)));
  }

  const card = el("section", { className: "card" },
    el("h2", {}, "Fit in full"),
    el("p", { className: "fine" }, "All rows of the table, with this prior; the noise is learned. The page stays usable."),
    el("div", { className: "row" }, begin, stop), bar, words, links);
  return { card };
}
