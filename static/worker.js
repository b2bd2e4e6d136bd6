// One open file: loads the module that decodes it and hands every message to that.

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

async function load() {
  const { default: init, worker_main } = await import("./engine.js");
  await init();
  return worker_main;
}

// Most files are snapshots.
async function load_log() {
  const log = await import("./log.js");
  await log.default();
  return log;
}

load().then(
  (worker_main) => worker_main(early, load_log),
  // The page knows what a text means: there is no decoder, and it is worth another try.
  (error) => self.postMessage(String(error?.message ?? error)),
);
