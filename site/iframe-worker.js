// A worker for pages that were opened from a folder, where browsers start none: the script of the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = (this.inner = frame.contentWindow);
      inner.document.open();
      inner.document.write("<!doctype html><body></body>");
      inner.document.close();
      inner.postMessage = (data) => this.tell(data);
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = inner.document.createElement("script");
          Object.assign(script, { src: source, onload: loaded, onerror: failed });
          inner.document.body.append(script);
        });
      // Relative names are those beside the script of the worker.
      inner.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(new URL(source, url).href)), Promise.resolve());
      this.ready = load(new URL(url, document.baseURI).href);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }

    tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
