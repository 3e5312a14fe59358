// A slider on a logarithmic scale, with what it says beside it as text that can be typed over.

import { el } from "./elements.js";
import { digits, heard, said, snapped } from "./units.js";

const STEPS = 1000;

// Returns an element with a method `show(value)`.
export function slider({ label, low, high, value, isDate = false, unit = "", change, id }) {
  const range = el("input", { type: "range", min: 0, max: STEPS, step: 1, id, "aria-label": label });
  const text = el("input", { type: "text", className: "amount", "aria-label": `${label}, typed` });
  const bounds = [Math.log(low), Math.log(high)];
  const say = (now) => (isDate ? said(now, true) : digits(now) + (unit ? ` ${unit}` : ""));
  const show = (now) => {
    const share = (Math.log(now) - bounds[0]) / (bounds[1] - bounds[0]);
    range.value = Math.round(STEPS * Math.min(1, Math.max(0, share)));
    range.setAttribute("aria-valuetext", say(now));
    if (document.activeElement !== text) text.value = say(now);
  };
  range.addEventListener("input", () => {
    const now = Math.exp(bounds[0] + (range.value / STEPS) * (bounds[1] - bounds[0]));
    change(snapped(now, isDate), true);
  });
  text.addEventListener("change", () => {
    const bare = unit ? text.value.replace(unit, "") : text.value;
    const now = heard(bare, isDate);
    if (now > 0 && isFinite(now)) change(now, false);
    text.blur();
    const failed = !(now > 0 && isFinite(now));
    text.classList.toggle("wrong", failed);
    text.title = failed ? `expected a positive ${isDate ? "time such as 3 weeks" : "number"}` : "";
  });
  const made = el("div", { className: "slider" }, el("span", { className: "name" }, label), range, text);
  made.show = show;
  show(value);
  return made;
}

// A slider on a plain scale, for the position of a slice.
export function place({ label, low, high, value, say, change }) {
  const range = el("input", {
    type: "range", min: 0, max: STEPS, step: 1, "aria-label": label,
    value: Math.round((STEPS * (value - low)) / (high - low)),
  });
  const text = el("output", { className: "amount" }, say(value));
  range.addEventListener("input", () => {
    const now = low + (range.value / STEPS) * (high - low);
    text.textContent = say(now);
    change(now);
  });
  return el("div", { className: "slider" }, el("span", { className: "name" }, label), range, text);
}
