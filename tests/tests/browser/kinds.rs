//! Tests the selection of all allocations of a kind: by the panel, the legend, a search, rows and boxes, and by keys.

use testkit::browser::{Locator, Spot};

use crate::journey::Journey;

/// Spot low in the plot, where memory is live all the time.
const LOW: Spot = Spot(0.5, 0.8);

const ESCAPE: &str = "\u{e00c}";
const RIGHT: &str = "\u{e014}";
const DOWN: &str = "\u{e015}";
const ENTER: &str = "\u{e007}";

fn timeline() -> Journey {
    Journey::with("torch2.15-gpt2-3steps-py311.pickle.gz")
}

fn bar(page: &Journey) -> Locator<'_> {
    page.role("group", "Selected allocations")
}

fn wait_until_marked(page: &Journey, is_marked: bool) {
    page.settle();
    page.wait_for(&format!("document.querySelector('[data-timeline]').dataset.marked === '{is_marked}'"));
    page.settle();
}

#[test]
fn all_of_a_stack_are_selected_and_walked_through() {
    let page = timeline();
    page.plot().drag(LOW, LOW);
    page.pinned().find("[data-stack]").wait();
    page.pinned().button("All*").click();
    bar(&page).wait_text("at the pin");
    wait_until_marked(&page, true);
    page.wait_for_address(";kind=of:");
    page.screenshot("kind");

    let first = page.pinned().attribute("data-allocation");
    bar(&page).button("Next allocation of the selection").click();
    page.pinned().wait_until(&format!("it.dataset.allocation !== '{first}'"));
    page.press("N");
    page.pinned().wait_until(&format!("it.dataset.allocation === '{first}'"));

    page.reload();
    bar(&page).wait_text("at the pin");
    wait_until_marked(&page, true);
    page.press(ESCAPE);
    bar(&page).wait_gone();
    wait_until_marked(&page, false);
    page.pinned().wait();
    page.press(ESCAPE);
    page.pinned().wait_gone();
}

#[test]
fn the_legend_selects_what_it_names() {
    let page = timeline();
    page.button("Stack").click();
    let stacks = page.role("list", "Largest stacks");
    stacks.find("button").nth(0).click();
    stacks.find("button[aria-pressed=true]").wait();
    bar(&page).wait_text("at the peak");
    page.button("Category").click();
    let category = page.find("[data-category=activations] button");
    category.click();
    bar(&page).wait_text("activation");
    page.wait_for_address(";kind=category:activation");
    category.click();
    bar(&page).wait_gone();
}

#[test]
fn a_search_and_a_box_select_in_the_timeline() {
    let page = timeline();
    page.tab("Allocations").click();
    page.find("#dock-search").write("linear");
    bar(&page).wait_text("linear");
    wait_until_marked(&page, true);
    page.tab("Flame graph").click();
    let graph = page.find("[data-flame]");
    graph.wait_until("Number(it.dataset.boxes) > 1");
    graph.drag(Spot(0.02, 0.2), Spot(0.02, 0.2));
    page.wait_for_address(";kind=line:");
    graph.wait_until("it.dataset.outlined === 'true'");
    bar(&page).button("Clear selection").click();
    bar(&page).wait_gone();
}

#[test]
fn keys_lead_from_allocation_to_allocation() {
    let page = timeline();
    page.plot().focus();
    page.press(ENTER);
    page.pinned().wait();
    for key in [RIGHT, DOWN] {
        let before = page.pinned().attribute("data-allocation");
        page.press(key);
        page.pinned().wait_until(&format!("it.dataset.allocation !== '{before}'"));
    }
    page.press("k");
    bar(&page).wait();
    page.press("k");
    bar(&page).wait_gone();
}
