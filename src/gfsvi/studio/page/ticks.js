// Where an axis has ticks, and what they say.

import { digits, millisecondsOf } from "./units.js";

export function numberTicks(low, high, most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    const value = Math.abs(i * step) < 1e-12 * step ? 0 : i * step;
    ticks.push([value, digits(Number(value.toPrecision(12)), 6)]);
  }
  return ticks;
}

const DAY = 86400000;

export function dateTicks(low, high, first, most) {
  const begin = millisecondsOf(first, low);
  const end = millisecondsOf(first, high);
  const zero = millisecondsOf(first, 0);
  const years = (end - begin) / (365.25 * DAY);
  const found = years > most / 3 ? yearTicks(begin, end, years / most) : finerTicks(begin, end, most);
  return found.map(([time, text]) => [(time - zero) / DAY, text]);
}

function yearTicks(begin, end, rough) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => one >= rough) ?? 1000;
  const ticks = [];
  const from = new Date(begin).getUTCFullYear();
  for (let year = Math.ceil(from / step) * step; ; year += step) {
    const time = new Date(0).setUTCFullYear(year, 0, 1);
    if (time > end) return ticks;
    if (time >= begin) ticks.push([time, String(year)]);
  }
}

function finerTicks(begin, end, most) {
  const days = (end - begin) / DAY / most;
  if (days > 20) return monthTicks(begin, end, days / 30.5);
  if (days < 0.5) {
    const hours = [1, 2, 3, 6, 12].find((one) => one >= days * 24) ?? 12;
    return evenTicks(begin, end, hours * 3600000, (d) => d.toISOString().slice(5, 16).replace("T", " "));
  }
  const step = [1, 2, 7, 14].find((one) => one >= days) ?? 28;
  return evenTicks(begin, end, step * DAY, (d) => d.toISOString().slice(0, 10));
}

function monthTicks(begin, end, rough) {
  const step = [1, 2, 3, 6].find((one) => one >= rough * 0.8) ?? 12;
  const ticks = [];
  const start = new Date(begin);
  for (let i = 0; i < 400; i += 1) {
    const month = Math.ceil(start.getUTCMonth() / step) * step + i * step;
    const time = Date.UTC(start.getUTCFullYear(), month, 1);
    if (time > end) break;
    if (time >= begin) ticks.push([time, new Date(time).toISOString().slice(0, 7)]);
  }
  return ticks;
}

function evenTicks(begin, end, step, say) {
  const ticks = [];
  for (let time = Math.ceil(begin / step) * step; time <= end; time += step) {
    ticks.push([time, say(new Date(time))]);
  }
  return ticks;
}
