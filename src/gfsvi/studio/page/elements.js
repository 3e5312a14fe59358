// Elements are made from text alone: nothing from a table is ever read as markup.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list" && name !== "form") made[name] = value;
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

// A sentence whose `backticks` mark names.
export function marked(sentence) {
  const pieces = sentence.split("`");
  if (pieces.length % 2 === 0) return [sentence];
  return pieces.map((piece, i) => (i % 2 ? el("code", {}, piece) : piece));
}

export function field(label, control, ...more) {
  return el("label", { className: "field" }, el("span", {}, label), control, ...more);
}

export function select(options, value, change, attributes = {}) {
  const made = el("select", { onchange: (event) => change(event.target.value), ...attributes });
  for (const [key, words] of options) {
    made.append(el("option", { value: key, selected: key === value }, words));
  }
  return made;
}

export function download(name, text, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
