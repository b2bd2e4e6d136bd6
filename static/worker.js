// One open file: loads the same module as the page and hands every message to it.
import init, { worker_main } from "./viewer.js";

// Messages may come before the module is there.
const early = [];
self.onmessage = (event) => early.push(event.data);

// A trap inside a promise would otherwise end in this worker's console only: the page listens to its errors.
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  setTimeout(() => {
    throw event.reason;
  });
});

await init();
worker_main(early);
