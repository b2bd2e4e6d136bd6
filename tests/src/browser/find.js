// Finds elements as a screen reader names them, by role and accessible name; runs before each script of a journey.
const find = (() => {
  const NATIVE = {
    article: "article", banner: "body > header, body > div > header", button: "button, summary", checkbox: "input[type=checkbox]",
    columnheader: "th[scope=col]", combobox: "select", complementary: "aside", dialog: "dialog[open]", figure: "figure", form: "form",
    heading: "h1, h2, h3, h4", link: "a[href]", list: "ul, ol", listitem: "li", main: "main", navigation: "nav",
    progressbar: "progress", region: "section", row: "tr", searchbox: "input[type=search]", spinbutton: "input[type=number]",
    status: "output", table: "table", textbox: "textarea, input[type=text], input[type=password]",
  };
  const CONTROLS = "input, select, textarea";
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const isTold = (element) => isShown(element) && !element.closest('[aria-hidden="true"], [inert]');
  const tidied = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  // The text of an element as it is read out: without what is hidden, and with the names of pictures.
  const spoken = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute("aria-hidden") === "true" || node.matches(CONTROLS)) return "";
    if (node.hasAttribute("aria-label")) return node.getAttribute("aria-label");
    const text = [...node.childNodes].map(spoken).join("");
    const display = getComputedStyle(node).display;
    return display === "none" ? "" : display.startsWith("inline") ? text : ` ${text} `;
  };

  const nameOf = (element) => {
    const referred = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => document.getElementById(id)).filter(Boolean);
    const labels = [...(element.labels ?? [])];
    const caption = element.localName === "table" && element.caption;
    const hasOwnText = !element.matches(`${CONTROLS}, table, section, aside, nav, form, dialog, ul, ol, article, figure`)
      && !/^(region|group|toolbar|tablist|grid|tabpanel|status|application|img)$/.test(element.getAttribute("role"));
    const names = [
      referred.map(spoken).join(" "), element.getAttribute("aria-label"), labels.map(spoken).join(" "), caption && spoken(caption),
      hasOwnText && spoken(element), element.getAttribute("title"), element.getAttribute("placeholder"),
    ];
    return names.map((name) => tidied(name || "")).find(Boolean) ?? "";
  };

  // A star in a name stands for any text.
  const isNamed = (element, name) => {
    const parts = name.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return name === "*" || new RegExp(`^${parts.join(".*")}$`, "s").test(nameOf(element));
  };

  const below = (found, selector) => [...new Set(found.flatMap((within) => [...within.querySelectorAll(selector)]))];
  const byRole = (found, role, name) => {
    const native = NATIVE[role] ? `, :is(${NATIVE[role]}):not([role])` : "";
    return below(found, `[role=${role}]${native}`).filter((element) => isTold(element) && isNamed(element, name));
  };

  // Takes one step after another, each from what the one before has found.
  return (steps) => steps.reduce((found, { role, name, css, text, place }) => {
    if (role) return byRole(found, role, name);
    if (css) return below(found, css).filter(isShown);
    if (text) return found.filter((element) => tidied(element.innerText).includes(text));
    return [found.at(place)].filter(Boolean);
  }, [document]);
})();
