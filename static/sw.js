// Keeps the viewer for visits without a network. The tool that packs the pages writes BUILD above this line: the folder
// of its assets, the documents and assets to keep, each by its path below this script.
//
// A build is kept whole or not at all, in a cache of its own. A document names the assets of its own build, and those
// have the build in their path: so whatever is served from where, builds never mix.
//
// Nothing but BUILD's files is ever kept: no snapshot, no link, no answer of the server.

const top_ = new URL("./", self.location);
const PREFIX = `snapscope ${top_.pathname} `;
const CACHE = PREFIX + BUILD.folder;

// How long a document may take to come before the one that was kept is shown.
const PATIENCE_MS = 3000;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("message", (event) => event.waitUntil(tidy()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== top_.origin || !url.pathname.startsWith(top_.pathname)) {
    return;
  }
  const path = url.pathname.slice(top_.pathname.length) || "index.html";
  if (request.mode === "navigate" && path === "index.html") {
    event.respondWith(fresh(request, path));
  } else if (path.startsWith("assets/")) {
    event.respondWith(kept(request));
  } else if (BUILD.files.includes(path) && request.mode !== "navigate") {
    event.respondWith(fresh(request, path));
  }
});

async function install() {
  const cache = await caches.open(CACHE);
  try {
    await Promise.all(BUILD.files.map((path) => keep(cache, path)));
    const index = await cache.match(new URL("index.html", top_));
    if (!(await index.text()).includes(BUILD.folder)) {
      throw new Error("the pages have changed meanwhile");
    }
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
  await self.skipWaiting();
}

// What is named by its content may come from the browser's own cache; anything else is asked for.
async function keep(cache, path) {
  const url = new URL(path, top_);
  const response = await fetch(url, { cache: path.startsWith("assets/") ? "default" : "no-cache" });
  if (!response.ok) {
    throw new Error(`${url}: ${response.status}`);
  }
  await cache.put(url, response);
}

async function activate() {
  await self.clients.claim();
  await tidy();
}

// The newest one, or where there is none to be had the one that was kept.
async function fresh(request, path) {
  const old = async () => (await caches.open(CACHE)).match(new URL(path, top_));
  const asked = fetch(request);
  asked.catch(() => {}); // it may fail after the one that was kept is shown
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  try {
    const response = (await Promise.race([asked, late.then(old)])) ?? (await asked);
    return response.status < 500 ? response : ((await old()) ?? response);
  } catch (error) {
    const response = await old();
    if (response) {
      return response;
    }
    throw error;
  }
}

// An asset never changes: whichever build it is of.
async function kept(request) {
  for (const name of await caches.keys()) {
    const response = name.startsWith(PREFIX) && (await (await caches.open(name)).match(request.url, { ignoreSearch: true }));
    if (response) {
      return response;
    }
  }
  return fetch(request);
}

// Forgets builds that no open page is of. A page that does not answer may be of any.
async function tidy() {
  const stale = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  if (stale.length === 0) {
    return;
  }
  const pages = await self.clients.matchAll({ type: "window" });
  const builds = await Promise.all(pages.map(build_of));
  if (!builds.includes(null)) {
    const is_open = (name) => builds.includes(new URL(`${name.slice(PREFIX.length)}/`, top_).href);
    await Promise.all(stale.filter((name) => !is_open(name)).map((name) => caches.delete(name)));
  }
}

function build_of(page) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => resolve(event.data);
    setTimeout(() => resolve(null), 1000);
    page.postMessage("which build", [port2]);
  });
}
