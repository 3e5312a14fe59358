// A page opened from disk may not start workers. There, an invisible frame runs the search.
(() => {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    onmessage = null;
    #waiting = [];
    #frame = document.createElement("iframe");

    constructor(address) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => this.#answer(data);
      inside.importScripts = (...scripts) => scripts.reduce(
        (before, script) => before.then(() => this.#load(script)), Promise.resolve());
      this.#load(address).then(() => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (this.#waiting) return void this.#waiting.push(data);
      const inside = this.#frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() { this.#frame.remove(); }

    #answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    #load(address) {
      return new Promise((resolve) => {
        const script = this.#frame.contentDocument.createElement("script");
        script.src = address;
        script.onload = resolve;
        this.#frame.contentDocument.head.append(script);
      });
    }
  }

  window.Worker = FrameWorker;
})();
