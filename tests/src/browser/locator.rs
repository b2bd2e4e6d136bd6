//! Names parts of a page as a person does, and acts on them: by role and accessible name, by text, by attributes.

use fantoccini::elements::{Element, ElementRef};
use serde_json::{Value, json};

use super::{Browser, Spot};

/// Part of a page, looked up anew whenever it is used.
///
/// Names match whole, and a star in a name stands for any text. Nothing that is hidden is found.
#[derive(Clone)]
pub struct Locator<'a> {
    browser: &'a Browser,
    steps: Vec<Value>,
}

/// Defines, for a page and for parts of it, a function per role.
macro_rules! roles {
    ($($function:ident = $role:literal;)*) => {
        impl Browser {
            $(pub fn $function(&self, name: &str) -> Locator<'_> {
                self.role($role, name)
            })*
        }

        impl<'a> Locator<'a> {
            $(#[must_use] pub fn $function(&self, name: &str) -> Self {
                self.role($role, name)
            })*
        }
    };
}

roles! {
    article = "article";
    // Also what opens hidden details.
    button = "button";
    checkbox = "checkbox";
    combobox = "combobox";
    dialog = "dialog";
    // Its rows are walked through by keys.
    grid = "grid";
    group = "group";
    heading = "heading";
    img = "img";
    link = "link";
    list = "list";
    region = "region";
    searchbox = "searchbox";
    // A text that is read out when it changes.
    status = "status";
    tab = "tab";
    table = "table";
    tablist = "tablist";
    textbox = "textbox";
    toolbar = "toolbar";
}

impl Browser {
    /// Finds elements by their ARIA role, written or implied, and their accessible name.
    pub fn role(&self, role: &str, name: &str) -> Locator<'_> {
        self.whole().role(role, name)
    }

    pub fn find(&self, selector: &str) -> Locator<'_> {
        self.whole().find(selector)
    }

    fn whole(&self) -> Locator<'_> {
        Locator { browser: self, steps: Vec::new() }
    }
}

impl<'a> Locator<'a> {
    fn then(&self, step: Value) -> Self {
        let steps = self.steps.iter().cloned().chain([step]).collect();
        Self { browser: self.browser, steps }
    }

    /// Finds elements inside by their ARIA role, written or implied, and their accessible name.
    #[must_use]
    pub fn role(&self, role: &str, name: &str) -> Self {
        self.then(json!({ "role": role, "name": name }))
    }

    #[must_use]
    pub fn find(&self, selector: &str) -> Self {
        self.then(json!({ "css": selector }))
    }

    /// Keeps the elements that show a text.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        self.then(json!({ "text": text }))
    }

    /// Keeps one of the elements; negative places count from the last one.
    #[must_use]
    pub fn nth(&self, place: i32) -> Self {
        self.then(json!({ "place": place }))
    }

    fn all(&self) -> String {
        format!("find({})", Value::from(self.steps.clone()))
    }

    /// Returns the value of a JavaScript expression of the list of elements, `all`.
    #[track_caller]
    pub fn value_of_all(&self, expression: &str) -> Value {
        self.browser.value(&format!("(all => {expression})({})", self.all()))
    }

    /// Returns the value of a JavaScript expression of the first element, `it`; null if there is none.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.browser.value(&format!("(it => it && ({expression}))({}[0])", self.all()))
    }

    /// Returns an attribute of the first element; empty if there is none.
    #[track_caller]
    pub fn attribute(&self, name: &str) -> String {
        self.value(&format!("it.getAttribute({name:?})")).as_str().unwrap_or_default().to_owned()
    }

    /// Returns the visible text of the elements, one per line.
    #[track_caller]
    pub fn text(&self) -> String {
        self.value_of_all("all.map(e => e.innerText).join('\\n')").as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn count(&self) -> u64 {
        self.value_of_all("all.length").as_u64().unwrap_or_default()
    }

    #[track_caller]
    pub fn is_there(&self) -> bool {
        self.count() > 0
    }

    #[track_caller]
    pub fn wait(&self) {
        self.wait_until("true");
    }

    #[track_caller]
    pub fn wait_gone(&self) {
        self.wait_count(0);
    }

    #[track_caller]
    pub fn wait_count(&self, count: usize) {
        self.wait_until_all(&format!("all.length === {count}"));
    }

    #[track_caller]
    pub fn wait_text(&self, part: &str) {
        self.wait_until(&format!("it.innerText.includes({})", json!(part)));
    }

    /// Waits until a JavaScript expression of the first element, `it`, is truthy, and returns its value.
    #[track_caller]
    pub fn wait_until(&self, condition: &str) -> Value {
        self.browser.wait_for(&format!("(it => it && ({condition}))({}[0])", self.all()))
    }

    /// Waits until a JavaScript expression of the list of elements, `all`, is truthy, and returns its value.
    #[track_caller]
    pub fn wait_until_all(&self, condition: &str) -> Value {
        self.browser.wait_for(&format!("(all => {condition})({})", self.all()))
    }

    /// Clicks the first element that can be used, and waits until there is one.
    #[track_caller]
    pub fn click(&self) {
        let element = self.element();
        self.browser.wait(element.click());
    }

    #[track_caller]
    pub fn focus(&self) {
        self.wait_until("(it.focus(), true)");
    }

    /// Replaces the content of a field, as typing does.
    #[track_caller]
    pub fn write(&self, text: &str) {
        let text = json!(text);
        self.wait_until(&format!(
            "(it.value = {text}, it.dispatchEvent(new InputEvent('input', {{ bubbles: true }})), true)"
        ));
    }

    /// Chooses the first entry of a select box whose text starts with these words.
    #[track_caller]
    pub fn choose(&self, words: &str) {
        self.choose_by(&format!("option.text.startsWith({})", json!(words)));
    }

    /// Chooses the entry of a select box that has a value.
    #[track_caller]
    pub fn choose_value(&self, value: &str) {
        self.choose_by(&format!("option.value === {}", json!(value)));
    }

    #[track_caller]
    fn choose_by(&self, condition: &str) {
        self.wait_until(&format!(
            "(place => place >= 0 && (it.selectedIndex = place, it.dispatchEvent(new Event('change', {{ bubbles: true }})), \
             true))([...it.options].findIndex(option => {condition}))"
        ));
    }

    /// Moves the pointer over a point of the first element.
    #[track_caller]
    pub fn hover(&self, at: Spot) {
        self.browser.hover_pixel(self.pixel(at));
    }

    /// Turns the wheel over a point of the first element; a positive `delta_y` turns it towards the user.
    #[track_caller]
    pub fn wheel(&self, at: Spot, delta_y: i64) {
        self.browser.wheel_pixel(self.pixel(at), delta_y);
    }

    /// Turns the wheel several times over a point of the first element without a pause, however slow the driver is.
    #[track_caller]
    pub fn spin(&self, at: Spot, delta_y: i64, times: usize) {
        let (x, y) = self.pixel(at);
        self.wait_until(&format!(
            "(Array({times}).fill().forEach(() => it.dispatchEvent(new WheelEvent('wheel', {{ deltaY: {delta_y}, \
             clientX: {x}, clientY: {y}, bubbles: true, cancelable: true }}))), true)"
        ));
    }

    /// Drags with the left button from one point of the first element to another.
    #[track_caller]
    pub fn drag(&self, from: Spot, to: Spot) {
        let between = Spot((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        self.browser.drag_pixels([from, between, to].map(|at| self.pixel(at)));
    }

    /// Converts a spot of the first element to CSS pixels of the viewport.
    #[track_caller]
    fn pixel(&self, Spot(x, y): Spot) -> (i64, i64) {
        let pixel = self.wait_until(&format!(
            "(box => [Math.round(box.left + {x} * box.width), Math.round(box.top + {y} * box.height)])\
             (it.getBoundingClientRect())"
        ));
        (pixel[0].as_i64().expect("a number"), pixel[1].as_i64().expect("a number"))
    }

    #[track_caller]
    fn element(&self) -> Element {
        let found = self.wait_until_all("all.find(it => !it.matches(':disabled'))");
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        let id = ElementRef::from(id.expect("a reference to an element").to_owned());
        Element::from_element_id(self.browser.client.clone(), id)
    }
}
