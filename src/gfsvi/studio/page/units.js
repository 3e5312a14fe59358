// Numbers with units: how they are written, read and rounded.

const YEAR = 365.2425;
const DAYS = {
  second: 1 / 86400, minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7, month: YEAR / 12, year: YEAR,
};
const SHORT = { s: "second", sec: "second", min: "minute", h: "hour", d: "day", yr: "year" };

export function digits(value, count = 3) {
  if (!isFinite(value) || value === 0) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, count - 1)).replace("-", "−");
  const text = Number(value.toPrecision(count)).toString();
  return text.replace("-", "−");
}

function unitOf(days) {
  const fitting = Object.keys(DAYS).filter((unit) => days >= 0.9995 * DAYS[unit]);
  return fitting.at(-1) ?? "second";
}

// A distance as a user would say it: "3 weeks", "50".
export function said(length, isDate) {
  if (!isDate) return digits(length);
  const unit = unitOf(length);
  const number = digits(length / DAYS[unit]);
  return number === "1" ? `1 ${unit}` : `${number} ${unit}s`;
}

// A length with three digits in its own unit, so that what is said is what is used.
export function snapped(length, isDate) {
  const unit = isDate ? DAYS[unitOf(length)] : 1;
  return Number((length / unit).toPrecision(3)) * unit;
}

// The length that a text says; NaN if it says none.
export function heard(text, isDate) {
  const match = text.trim().replace("−", "-").match(/^([0-9.eE+-]+)\s*([a-zA-Z]*)$/);
  if (!match) return NaN;
  const value = Number(match[1]);
  const word = match[2].toLowerCase();
  if (!isDate) return word ? NaN : value;
  const unit = SHORT[word] ?? word.replace(/s$/, "");
  return word === "" ? value : value * (DAYS[unit] ?? NaN);
}

export const millisecondsOf = (first, days) =>
  Date.parse(`${(first || "2000-01-01").slice(0, 10)}T00:00:00Z`) + days * 86400000;

export const daysOf = (first, text) =>
  (Date.parse(`${text}T00:00:00Z`) - millisecondsOf(first, 0)) / 86400000;

export const dateText = (first, days) =>
  new Date(millisecondsOf(first, days)).toISOString().slice(0, 10);
