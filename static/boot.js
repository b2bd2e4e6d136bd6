// Starts the page's module, which its `html` element names. Classes and texts come from the module; this only loads it,
// says so when it can't, and gets what the page will need later.
//
// A plain script: opened from a folder, without a server, a browser loads no module, and that has to be said.

const assets = new URL(".", document.currentScript.src);
const { module, later, styles, files } = document.documentElement.dataset;

// `snapscope open` sent the page, and serves its files for as long as one of its pages is open.
const has_files = files !== undefined;
const attendance = has_files ? new EventSource(new URL("../../api/v1/attendance", assets)) : null;

// Before the first paint of the application: the colours that were chosen last time.
const chosen = new URLSearchParams(location.search).get("theme") ?? remembered();
if (chosen === "light" || chosen === "dark") {
  document.documentElement.dataset.theme = chosen;
}

function remembered() {
  try {
    return localStorage.getItem("snapscope-theme");
  } catch {
    return null; // storage is switched off
  }
}

function say(text) {
  const place = () => {
    const boot = document.getElementById("boot");
    if (boot) {
      boot.textContent = text;
    }
  };
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", place);
  } else {
    place();
  }
}

// The worker that keeps the pages for visits without a network asks which build is open.
navigator.serviceWorker?.addEventListener("message", (event) => event.ports[0]?.postMessage(assets.href));

// The viewer, loaded before anybody asked for it.
let ready = null;

// A worker that loads what decodes while nobody waits for it, or beside the viewer: the first file's.
let spare = null;

function start_worker() {
  spare ??= new Worker(new URL("worker.js", assets), { type: "module" });
  // It speaks up only if it can't decode: then the file gets a new one, and hears of that.
  spare.onmessage = spare.onerror = (event) => {
    event.preventDefault();
    spare?.terminate();
    spare = null;
  };
}

function take_worker() {
  const worker = spare;
  spare = null;
  return worker;
}

// Styles of the viewer, which the page without a file does without.
let styled = null;

function load_styles() {
  styled ??= Promise.all(styles.split(" ").map(load_style)).catch((error) => {
    styled = null;
    throw error;
  });
  styled.catch(() => {}); // whoever waits is told
  return styled;
}

function load_style(name) {
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(name, assets) });
  document.head.append(style);
  return new Promise((resolve, reject) => {
    style.onload = resolve;
    style.onerror = () => reject(new Error(`${name} could not be loaded`));
  });
}

// A module that could not be loaded is asked for under another address: a browser remembers that one failed.
let tries = 0;

async function load(name) {
  const needed = name === "viewer" ? load_styles() : null;
  const code = fetch(new URL(`${name}_bg.wasm`, assets));
  code.catch(() => {}); // the script is told
  const page = await import(new URL(`${name}.js${tries > 0 ? `?${tries}` : ""}`, assets)).catch((error) => {
    tries += 1;
    throw error;
  });
  await Promise.all([page.default({ module_or_path: code }), needed]);
  return page;
}

// Whether the address asks for a file: then there is no page without one.
function is_asked() {
  const path = location.pathname.slice(new URL("../../", assets).pathname.length);
  return has_files || /[?&](gallery|job|sample)\b/.test(location.search) || !["", "index.html"].includes(path);
}

// Whether the small module shows a recording of this site until the viewer is there: at the first visit, as later ones
// don't wait for the network.
function is_first_look() {
  const is_stored = /^[?](gallery=\w+_bad|sample)\b/.test(location.search);
  return is_stored && !navigator.serviceWorker?.controller && !has_files && !is_rehearsal();
}

// Whether this tab had local files open, by the name that the viewer gives them: it opens them again.
function had_files() {
  try {
    return sessionStorage.getItem("snapscope-files") !== null;
  } catch {
    return false; // storage is switched off
  }
}

// Whether the page without a file is shown: the first file is still to come.
let is_home = false;

// The promise of the viewer while it takes the place of that page. Nothing is prepared from then on: a rehearsal beside
// the viewer would write to the tab's list of files.
let leaving = null;

// The viewer takes the place of the page without a file, and opens what the address names.
async function leave(page, files, dialog, address) {
  let decoder = null;
  if (files.length > 0 || address || is_asked()) {
    start_worker();
    decoder = fetch(new URL("engine_bg.wasm", assets)).then((response) => response.arrayBuffer());
    decoder.catch(() => {}); // the file is told
  }
  end_rehearsal();
  const viewer = (await ready) ?? (await load("viewer"));
  // Until then, this page has more to show.
  await Promise.allSettled([decoder]);
  page.leave();
  is_home = false;
  if (address) {
    history.pushState(null, "", address);
  }
  viewer.start(assets.href, files, dialog, take_worker);
}

// Frame that shows the sample where nobody sees it.
let rehearsal = null;

// How long the frame stays once the timeline is there, for findings and the panel.
const AFTER_TIMELINE_MS = 500;

// Browsers compile code when it first runs: whatever the first file runs has run once before.
function rehearse() {
  const frame = document.createElement("iframe");
  frame.className = "rehearsal";
  frame.inert = true;
  frame.src = "?sample";
  frame.addEventListener("load", () => {
    const marks = new frame.contentWindow.PerformanceObserver((list) => {
      if (list.getEntriesByName("timeline-drawn").length > 0) {
        setTimeout(end_rehearsal, AFTER_TIMELINE_MS);
      }
    });
    marks.observe({ type: "mark", buffered: true });
  });
  rehearsal = frame;
  document.body.append(frame);
}

function end_rehearsal() {
  rehearsal?.remove();
  rehearsal = null;
  performance.mark("rehearsed");
}

function is_rehearsal() {
  return window.frameElement?.className === "rehearsal";
}

async function start() {
  const has_look = module === "home" && is_first_look();
  const name = module === "home" && (is_asked() || had_files()) && !has_look ? "viewer" : module;
  if (name === "viewer") {
    start_worker();
  }
  const page = await load(name);
  if (name === "home") {
    is_home = true;
    page.start(assets.href, (...wanted) => {
      leaving ??= leave(page, ...wanted).finally(() => {
        leaving = null;
        if (has_look) {
          prepare();
        }
      });
      return leaving;
    });
  } else {
    page.start(assets.href, [], undefined, take_worker);
  }
  performance.mark("page-started");
  if (is_rehearsal() || has_look) {
    return;
  }
  // The page comes first: its first paint and whatever it was opened for.
  (window.requestIdleCallback ?? setTimeout)(prepare);
}

// Copies of open files are kept for a day, by the viewer and in this folder: whatever is older goes.
const DAY_MS = 86400000;

async function forget_old() {
  const top = await navigator.storage?.getDirectory?.();
  const kept = await top?.getDirectoryHandle("snapscope-kept");
  for await (const [tab, copies] of kept?.entries() ?? []) {
    let left = 0;
    for await (const [name, copy] of copies.entries()) {
      const { lastModified } = await copy.getFile();
      const is_old = Date.now() - lastModified > DAY_MS;
      left += is_old ? 0 : 1;
      if (is_old) {
        await copies.removeEntry(name);
      }
    }
    if (left === 0) {
      await kept.removeEntry(tab);
    }
  }
}

// Gets what a file will need, so that opening one never waits for the network, and keeps all of it for later visits
// without a network.
async function prepare() {
  forget_old().catch(() => {}); // there is no folder, or no storage
  if (!later) {
    return;
  }
  const files = later.split(" ").map((name) => fetch(new URL(name, assets), { priority: "low" }));
  // Whoever opens a file hears of what is missing; here it is only early.
  const got = await Promise.allSettled(files.map(async (file) => (await file).arrayBuffer()));
  if (is_home && leaving === null && got.every(({ status }) => status === "fulfilled")) {
    ready = load("viewer").catch(() => null); // whoever needs it is told
    start_worker();
    rehearse();
  }
  const workers = navigator.serviceWorker;
  if (!workers || has_files) {
    return; // an old browser, an address that is not secure, or one that will not be there again
  }
  try {
    // Assets are in `assets/HASH/`.
    await workers.register(new URL("../../sw.js", assets), { updateViaCache: "none" });
    // Whatever this page has taken the place of may be forgotten.
    workers.controller?.postMessage("a page is ready");
  } catch (error) {
    console.info(`Snapscope will need the network next time: ${error.message}`);
  }
}

if (location.protocol === "file:") {
  say("Browsers can't start Snapscope from a local file. Run “python3 -m http.server” in this folder and open the address that it prints.");
} else {
  start().catch((error) => {
    console.error(error);
    say("Snapscope could not start: the connection was lost, this browser is too old, or WebAssembly is disabled.");
  });
}
