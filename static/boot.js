// Starts the page's module, which its `html` element names. Classes and texts come from the module; this only loads it
// and says so when it can't.

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

try {
  const { default: init, start } = await import(`./${document.documentElement.dataset.module}.js`);
  await init();
  start(new URL(".", import.meta.url).href);
} catch (error) {
  console.error(error);
  const boot = document.getElementById("boot");
  if (boot) {
    boot.textContent = "Snapscope could not start: this browser may be too old, or WebAssembly is switched off.";
  }
}
