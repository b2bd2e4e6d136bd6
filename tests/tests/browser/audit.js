// What a page has to keep so that a keyboard, a screen reader and weak eyes can use it: returns what it does not keep,
// a sentence each. The rules are those of WCAG 2.2 AA and of ARIA 1.2 that a program can check.
const problems = [];
const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('[aria-hidden="true"], [inert]');
const shown = (selector) => [...document.querySelectorAll(selector)].filter(isShown);
const describe = (element) => `${element.cloneNode(false).outerHTML} "${element.textContent.trim().slice(0, 40)}"`;
// Texts for screen readers alone are clipped away.
const isOnlySpoken = (element) => element && (getComputedStyle(element).clipPath === "inset(50%)" || isOnlySpoken(element.parentElement));
const claim = (holds, element, sentence) => holds || problems.push(`${describe(element)} ${sentence}`);

// The text that names an element for assistive technology, as far as this page makes use of the rules.
const nameOf = (element) => {
  const referred = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  const labels = [...(element.labels ?? [])].map((label) => label.textContent);
  return [element.getAttribute("aria-label"), ...referred.map((id) => document.getElementById(id)?.textContent), ...labels,
    element.textContent, element.getAttribute("title"), element.getAttribute("alt")].join(" ").trim();
};

// Names.
const controls = "a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=slider], [role=separator], [tabindex='0']";
for (const element of shown(controls)) claim(nameOf(element), element, "has no name");
for (const element of shown("[role=grid], [role=table], [role=tablist], [role=toolbar], [role=dialog], dialog, nav, aside, section[role=region]")) {
  claim(element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby"), element, "has no name");
}
for (const element of shown("svg, img, canvas")) {
  claim(element.hasAttribute("alt") || element.hasAttribute("aria-label") || element.closest("button, a, [role=img], [aria-label]"), element,
    "is a picture without words");
}

// References.
for (const attribute of ["aria-labelledby", "aria-controls", "aria-describedby", "aria-activedescendant", "for"]) {
  for (const element of shown(`[${attribute}]`)) {
    for (const id of element.getAttribute(attribute).split(/\s+/)) {
      claim(document.getElementById(id), element, `refers by ${attribute} to ${id}, which is not there`);
    }
  }
}
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
ids.filter((id, place) => ids.indexOf(id) !== place).forEach((id) => problems.push(`the id ${id} is there twice`));

// Roles that ask for something of their element or of what is in it.
for (const element of shown("[role=slider], [role=separator][tabindex], [role=progressbar]")) {
  claim(element.hasAttribute("aria-valuenow"), element, "has no value");
}
const children = { tablist: "[role=tab]", grid: "[role=row], tr", table: "[role=row], tr", rowgroup: "[role=row]", row: "[role$=cell], [role$=header], td, th", listbox: "[role=option]", radiogroup: "[role=radio]" };
for (const [role, child] of Object.entries(children)) {
  for (const element of shown(`[role=${role}]`)) claim(element.querySelector(child), element, `is a ${role} without ${child}`);
}
for (const element of shown("[role=tab]")) {
  claim(element.hasAttribute("aria-selected") && element.closest("[role=tablist]"), element, "is a tab of no list");
}
for (const element of shown("th, [role=columnheader]")) claim(element.textContent.trim(), element, "heads a column without a word");

// Structure.
if (shown("main").length !== 1) problems.push(`there are ${shown("main").length} elements "main"`);
const dialog = document.querySelector("dialog[open]");
const headings = shown("h1, h2, h3, h4, h5, h6").filter((heading) => !heading.closest("dialog"));
if (headings.filter((heading) => heading.localName === "h1").length !== 1) problems.push("there is not one h1");
headings.reduce((before, heading) => {
  const level = Number(heading.localName[1]);
  claim(level <= before + 1, heading, `follows a heading of level ${before}`);
  return level;
}, 0);
if (!document.documentElement.lang) problems.push("the page does not tell its language");

// The keyboard.
for (const element of document.querySelectorAll("[tabindex]")) {
  claim(element.tabIndex <= 0, element, "jumps the order of the keyboard");
  claim(element.tabIndex < 0 || !element.closest('[aria-hidden="true"]'), element, "takes the focus and is hidden from screen readers");
}
for (const element of shown("*")) {
  const { overflowX, overflowY } = getComputedStyle(element);
  const scrolls = (["auto", "scroll"].includes(overflowY) && element.scrollHeight > element.clientHeight + 1)
    || (["auto", "scroll"].includes(overflowX) && element.scrollWidth > element.clientWidth + 1);
  if (scrolls && element.clientHeight > 0) {
    claim(element.tabIndex >= 0 || element.querySelector(controls), element, "scrolls, and no key reaches it");
  }
}

// Room for a finger: 24 CSS pixels, or as much of the page around it (WCAG 2.5.8), text links excepted.
for (const element of shown("button, select, summary, [role=tab], input:not([type=checkbox], [type=radio])")) {
  if (isOnlySpoken(element)) continue;
  const { width, height } = element.getBoundingClientRect();
  if (width && height) claim(width >= 23.5 && height >= 23.5, element, `is ${width.toFixed()} × ${height.toFixed()} pixels small`);
}

// Contrast of text.
const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
const luminance = ([red, green, blue]) => {
  const linear = [red, green, blue].map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const groundOf = (element) => {
  for (let above = element; above; above = above.parentElement) {
    const style = getComputedStyle(above);
    if (style.backgroundImage !== "none") return null;
    const color = channels(style.backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
    if (color[3] > 0) return null;
  }
  return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || seen.has(element) || !isShown(element) || element.closest("svg, option, :disabled, [aria-disabled=true], [data-timeline]") || isOnlySpoken(element)) continue;
  seen.add(element);
  const ground = groundOf(element);
  const style = getComputedStyle(element);
  if (!ground) continue;
  const [lighter, darker] = [luminance(channels(style.color)), luminance(ground)].sort((a, b) => b - a);
  const ratio = (lighter + 0.05) / (darker + 0.05);
  const size = parseFloat(style.fontSize);
  const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  claim(ratio >= needed, element, `has a contrast of ${ratio.toFixed(2)}: ${style.color} on ${ground}`);
}
return problems;
