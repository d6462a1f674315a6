// A page that is opened from a folder may start no worker: its script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const home = new URL(address, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(source, home);
          script.onload = loaded;
          script.onerror = failed;
          inside.document.head.append(script);
        });
      inside.importScripts = (...sources) => Promise.all(sources.map(load));
      this.ready = load(home);
      this.frame = frame;
    }
    postMessage(data) {
      this.ready.then(() => {
        const event = new MessageEvent("message", { data });
        this.frame.contentWindow.dispatchEvent(event);
        this.frame.contentWindow.onmessage?.(event);
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
