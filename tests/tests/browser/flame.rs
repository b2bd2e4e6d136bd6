//! Tests the dock's flame graph and its table of functions.

use testkit::browser::{Locator, Spot};

use crate::journey::Journey;

/// Spot in the first row, which the root fills.
const ROOT: Spot = Spot(0.5, 0.02);

/// Spot in the leftmost box of a lower row, which is the largest of each level.
const DEEP: Spot = Spot(0.02, 0.25);

fn flame() -> Journey {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page.tab("Flame graph").click();
    graph(&page).wait_until("Number(it.dataset.boxes) > 3");
    page
}

fn graph(page: &Journey) -> Locator<'_> {
    page.find("[data-flame]")
}

fn chosen(page: &Journey) -> Locator<'_> {
    page.find("[data-chosen]")
}

/// Returns the width of the shown part of the graph in bytes.
fn width(page: &Journey) -> f64 {
    graph(page).value("Number(it.dataset.x1) - Number(it.dataset.x0)").as_f64().expect("a number")
}

fn wait_for_width(page: &Journey, condition: &str) {
    graph(page).wait_until(&format!(
        "it.dataset.settled === 'true' && Number(it.dataset.x1) - Number(it.dataset.x0) {condition}"
    ));
}

#[test]
fn clicks_zoom_and_keys_lead_back_and_from_box_to_box() {
    let page = flame();
    let whole = width(&page);
    page.screenshot("flame");
    graph(&page).drag(DEEP, DEEP);
    wait_for_width(&page, &format!("< {whole}"));
    assert!(chosen(&page).text().contains("allocation"), "{}", chosen(&page).text());
    page.press("\u{e003}"); // Backspace
    wait_for_width(&page, &format!("=== {whole}"));
    graph(&page).drag(ROOT, ROOT);
    let name = chosen(&page).find("strong");
    name.wait_until("it.innerText === 'All'");
    page.press("\u{e015}"); // arrow down
    name.wait_until("it.innerText !== 'All'");
    page.press("\u{e013}"); // arrow up
    name.wait_until("it.innerText === 'All'");
}

#[test]
fn the_largest_allocation_of_a_box_is_shown_in_the_timeline() {
    let page = flame();
    graph(&page).drag(DEEP, DEEP);
    page.button("Show in timeline").click();
    page.wait_for_address("pin=");
}

#[test]
fn the_table_sums_up_and_opens_a_sandwich() {
    let page = flame();
    page.button("Table").click();
    let functions = page.region("Functions");
    functions.wait_until("Number(it.dataset.sites) > 3");
    let rows = functions.find("tbody tr:not([aria-hidden])");
    assert!(rows.text().contains("iB"), "{}", rows.text());
    rows.button("*").nth(0).click();
    graph(&page).wait_count(2);
    graph(&page).wait_until_all("all.every(graph => Number(graph.dataset.boxes) > 0)");
    let widths = graph(&page).value_of_all("new Set(all.map(graph => graph.dataset.x1)).size");
    assert_eq!(widths, 1, "callers and callees come to the same");
    page.screenshot("sandwich");
}
