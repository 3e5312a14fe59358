// Requests: one at a time of each kind, the latest wins; and what to do when nobody answers.

const listeners = new Set();
let gone = false;

export function onGone(listener) {
  listeners.add(listener);
}

function tell(isGone) {
  if (isGone === gone) return;
  gone = isGone;
  listeners.forEach((listener) => listener(gone));
  if (gone) setTimeout(ask, 1500);
}

async function ask() {
  try {
    await fetch("begin");
    tell(false);
  } catch {
    setTimeout(ask, 1500);
  }
}

async function answered(request) {
  let response;
  try {
    response = await request;
  } catch {
    tell(true);
    throw new Error("The studio's server is gone.");
  }
  tell(false);
  let content;
  try {
    content = await response.json();
  } catch {
    throw new Error(`The server answered ${response.status}.`);
  }
  if (content.complaint) throw new Error(content.complaint);
  return content;
}

export const get = (path) => answered(fetch(path));

export const post = (path, content) =>
  answered(fetch(path, { method: "POST", body: JSON.stringify(content) }));

export const send = (path, name, bytes) =>
  answered(
    fetch(path, { method: "POST", body: bytes, headers: { "X-Name": encodeURIComponent(name) } }),
  );

// A function that asks, and never lets requests pile up: while one is under way only the newest waits.
export function latestWins(path, use, complain) {
  let busy = false;
  let waiting = null;
  return async function request(content, note) {
    if (busy) {
      waiting = [content, note];
      return;
    }
    busy = true;
    try {
      use(await post(path, content), note);
    } catch (error) {
      complain(error.message, note);
    }
    busy = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      request(...next);
    }
  };
}
