// The workspace of this tab: changed in one place, with undo, and kept over a reload.

const KEY = "gfsvi-studio";
const TOGETHER = 700; // milliseconds within which moves of one slider are one step of undo

// A slider that is held is one step, however long that takes.
let isHeld = false;
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (isHeld = false), true);
addEventListener("pointerdown", () => {
  isHeld = true;
  if (performance.now() - store.last.time >= TOGETHER) store.last = { key: null, time: 0 };
}, true);

export const store = {
  workspace: null,
  revision: 0,
  past: [],
  future: [],
  last: { key: null, time: 0 },
  listeners: [],

  begin(workspace) {
    this.workspace = workspace;
    this.tell();
  },

  listen(listener) {
    this.listeners.push(listener);
  },

  // Change the workspace by a function of a copy; moves under the same key are undone together.
  change(move, key = null) {
    const now = performance.now();
    const together = key && key === this.last.key && (isHeld || now - this.last.time < TOGETHER);
    if (!together) this.past.push(JSON.stringify(this.workspace));
    if (this.past.length > 200) this.past.shift();
    this.last = { key, time: now };
    this.future = [];
    const copy = structuredClone(this.workspace);
    this.workspace = move(copy) ?? copy;
    this.tell(key);
  },

  // Change the workspace within the same step of undo as the change before.
  amend(move) {
    this.workspace = move(this.workspace);
    this.tell();
  },

  undo() {
    if (!this.past.length) return;
    this.future.push(JSON.stringify(this.workspace));
    this.travel(this.past.pop());
  },

  redo() {
    if (!this.future.length) return;
    this.past.push(JSON.stringify(this.workspace));
    this.travel(this.future.pop());
  },

  travel(text) {
    this.workspace = JSON.parse(text);
    this.last = { key: null, time: 0 };
    this.tell();
  },

  tell(key = null) {
    this.revision += 1;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), 200);
    this.listeners.forEach((listener) => listener(this.workspace, key));
  },

  keep() {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(this.workspace));
    } catch {
      // a full storage: a reload will begin anew
    }
  },

  kept() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  },
};

export const column = (workspace, name) => workspace.columns.find((one) => one.name === name);

// What a page begins with: an axis, a smooth prior and no data.
export function blank() {
  return {
    format: 1,
    kind: "function",
    columns: [axis("x", 0, 10, 0)],
    features: [],
    target: { name: "y", centre: 0, spread: 1 },
    terms: [
      { std: 1, factors: [{ family: "matern52", columns: ["x"], values: { lengthscale: 1.5 } }] },
    ],
    field: { family: "rbf", lengthscale: 2, swirl: 1, sources: 0.01 },
    noise: 0.1,
    hidden: [100, 100],
    source: { kind: "none" },
    rows: { x: [], y: [] },
    view: { column: "x", low: 0, high: 10, at: {}, draws: 5, seed: 0 },
  };
}

export function axis(name, low, high, feature, kind = "number", first = "") {
  const middle = (low + high) / 2;
  return { name, kind, low, high, middle, first, levels: [], features: [feature] };
}
