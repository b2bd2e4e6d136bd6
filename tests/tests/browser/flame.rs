//! Tests the dock's flame graph and its table of functions.

use testkit::browser::Spot;

use crate::journey::Journey;

const GRAPH: &str = "[data-flame]";

/// Spot in the first row, which the root fills.
const ROOT: Spot = Spot(0.5, 0.02);

/// Spot in the leftmost box of a lower row, which is the largest of each level.
const DEEP: Spot = Spot(0.02, 0.25);

fn flame() -> Journey {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page.click_text("button", "Flame graph");
    page.wait_for(&format!("Number(document.querySelector('{GRAPH}')?.dataset.boxes) > 3"));
    page
}

/// Returns the width of the shown part of the graph in bytes.
fn width(page: &Journey) -> f64 {
    let width = format!("(g => Number(g.x1) - Number(g.x0))(document.querySelector('{GRAPH}').dataset)");
    page.value(&width).as_f64().expect("a number")
}

fn wait_for_width(page: &Journey, condition: &str) {
    page.wait_for(&format!(
        "(g => g.settled === 'true' && Number(g.x1) - Number(g.x0) {condition})(document.querySelector('{GRAPH}').dataset)"
    ));
}

#[test]
fn a_click_zooms_and_a_key_leads_back() {
    let page = flame();
    let whole = width(&page);
    page.screenshot("flame");
    page.drag(GRAPH, DEEP, DEEP);
    wait_for_width(&page, &format!("< {whole}"));
    assert!(page.text(".flame-chosen").contains("allocation"), "{}", page.text(".flame-chosen"));
    page.press("\u{e003}"); // Backspace
    wait_for_width(&page, &format!("=== {whole}"));
    page.check_console();
}

#[test]
fn keys_walk_from_box_to_box() {
    let page = flame();
    page.drag(GRAPH, ROOT, ROOT);
    page.wait_for("document.querySelector('.flame-chosen strong')?.innerText === 'All'");
    page.press("\u{e015}"); // arrow down
    page.wait_for("document.querySelector('.flame-chosen strong').innerText !== 'All'");
    page.press("\u{e013}"); // arrow up
    page.wait_for("document.querySelector('.flame-chosen strong').innerText === 'All'");
    page.check_console();
}

#[test]
fn the_largest_allocation_of_a_box_is_shown_in_the_timeline() {
    let page = flame();
    page.drag(GRAPH, DEEP, DEEP);
    page.wait_for("document.querySelector('.flame-chosen') !== null");
    page.click_text("button", "Show in timeline");
    page.wait_for("location.hash.includes('pin=')");
    page.check_console();
}

#[test]
fn the_table_sums_up_and_opens_a_sandwich() {
    let page = flame();
    page.click_text("button", "Table");
    page.wait_for("Number(document.querySelector('[data-sites]')?.dataset.sites) > 3");
    let first = page.text(".flame-table tbody tr:not(.spacer)");
    assert!(first.contains("iB"), "{first}");
    page.run("document.querySelector('.flame-table tbody tr:not(.spacer)').click()", Vec::new());
    page.wait_for(&format!("document.querySelectorAll('{GRAPH}').length === 2"));
    page.wait_for(&format!(
        "[...document.querySelectorAll('{GRAPH}')].every(graph => Number(graph.dataset.boxes) > 0)"
    ));
    let widths = format!("new Set([...document.querySelectorAll('{GRAPH}')].map(graph => graph.dataset.x1)).size");
    assert_eq!(page.value(&widths), 1, "callers and callees come to the same");
    page.screenshot("sandwich");
    page.check_console();
}
