//! Tests that choices below the timeline are in the URL, so that a reload or a pasted URL shows the same.

use serde_json::json;
use testkit::browser::{Locator, Spot};

use crate::journey::Journey;

fn sample() -> Journey {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page
}

#[track_caller]
fn reload(page: &Journey) {
    page.reload();
    page.wait_for_timeline();
}

/// Waits until an element has a text, for example after a reload.
#[track_caller]
fn wait_for_text(part: &Locator<'_>, text: &str) {
    part.wait_until(&format!("it.innerText === {}", json!(text)));
}

/// Opens the table of allocations, grouped by stack.
#[track_caller]
fn open_stacks(page: &Journey) {
    page.tab("Allocations").click();
    page.combobox("Rows").choose("By stack");
    stacks(page).button("Count").wait();
}

fn stacks(page: &Journey) -> Locator<'_> {
    page.grid("Groups of allocations")
}

fn graph(page: &Journey) -> Locator<'_> {
    page.find("[data-flame]")
}

fn chosen_function(page: &Journey) -> Locator<'_> {
    page.region("Functions").find("tr:has([aria-pressed=true])")
}

#[test]
fn the_table_of_allocations_is_the_same_after_a_reload() {
    let page = sample();
    open_stacks(&page);
    page.combobox("Scope").choose("In view: all");
    page.searchbox("Search allocations").click();
    page.press("a");
    page.find("[data-found=a]").wait();
    stacks(&page).button("Count").click();
    page.wait_for_address("rows=stack;sort=count-");
    page.wait_for_address("when=view;find=a");
    let totals = page.status("Totals").text();
    let titles = || stacks(&page).find("[role=gridcell][data-column=Title]").text();
    let first = titles();
    reload(&page);
    wait_for_text(&page.status("Totals"), &totals);
    assert_eq!(titles(), first);
    assert_eq!(page.searchbox("Search allocations").value("it.value"), "a");
}

#[test]
fn a_group_is_found_again() {
    let page = sample();
    open_stacks(&page);
    stacks(&page).find("[role=row][aria-selected]").nth(0).click();
    let (group, totals) = (page.button("Only *"), page.status("Totals"));
    group.wait();
    page.wait_for_address("group=stack:");
    totals.wait_text(" of ");
    let before = (group.text(), totals.text());
    reload(&page);
    wait_for_text(&group, &before.0);
    wait_for_text(&totals, &before.1);
}

#[test]
fn a_part_of_the_flame_graph_is_the_same_after_a_reload() {
    let page = sample();
    page.tab("Flame graph").click();
    graph(&page).wait_until("Number(it.dataset.boxes) > 3");
    page.button("Inverted").click();
    graph(&page).wait_until("it.getAttribute('aria-busy') === 'false'");
    let deep = Spot(0.02, 0.25);
    graph(&page).drag(deep, deep);
    page.wait_for_address("stacks=inverted");
    page.wait_for_address("zoom=");
    graph(&page).wait_until("it.dataset.settled === 'true'");
    let edges = "`${it.dataset.x0} ${it.dataset.x1}`";
    let before = graph(&page).value(edges);
    reload(&page);
    graph(&page).wait_until(&format!("{edges} === {before}"));
}

#[test]
fn a_sandwich_is_the_same_after_a_reload() {
    let page = sample();
    page.tab("Flame graph").click();
    page.button("Table").click();
    page.region("Functions").wait_until("Number(it.dataset.sites) > 3");
    page.region("Functions").find("tbody").button("*").nth(0).click();
    chosen_function(&page).wait();
    page.wait_for_address("stacks=table;function=");
    let chosen = chosen_function(&page).text();
    reload(&page);
    chosen_function(&page).wait();
    assert_eq!(chosen_function(&page).text(), chosen);
    graph(&page).wait_count(2);
}

#[test]
fn segments_settings_and_sides_are_the_same_after_a_reload() {
    let page = sample();
    page.tab("Segments").click();
    page.toolbar("Segments").button("End").click();
    page.toolbar("Segments").button("State").click();
    page.wait_for_address("at=end;blocks=state");
    reload(&page);
    page.toolbar("Segments").wait();
    let pressed = page.toolbar("Segments").find("[aria-pressed=true]").text();
    assert!(pressed.contains("End") && pressed.contains("State"), "{pressed}");

    page.tab("What if").click();
    page.checkbox("Expandable segments*").click();
    page.wait_for_address("conf=expandable_segments:True");
    reload(&page);
    page.textbox("PYTORCH*ALLOC_CONF").wait_until("it.value === 'expandable_segments:True'");

    page.tab("Compare").click();
    page.find("[data-compare]").wait_until("it.dataset.stacks");
    page.combobox("Moment of the other side").choose_value("start");
    page.wait_for_address("other=start");
    reload(&page);
    page.combobox("Moment of the other side").wait_until("it.value === 'start'");
}

#[test]
fn an_address_that_is_pasted_into_an_open_page_is_shown() {
    let page = sample();
    let whole = page.view();
    let (x, y) = (format!("{}..{}", whole.x1 / 4.0, whole.x1 / 2.0), format!("{}..{}", whole.y0, whole.y1));
    let view = format!("v1;device=0;axis=events;x={x};y={y};tab=file;dock=flame;stacks=inverted,flames");
    page.run("location.hash = arguments[0]", vec![json!(view)]);
    page.tab("Flame graph").wait_until("it.ariaSelected === 'true'");
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", whole.x1 / 4.0, whole.x1 / 2.0));
    let pressed = page.toolbar("Flame graph").find("[aria-pressed=true]").text();
    assert!(pressed.contains("Inverted") && pressed.contains("Root below"), "{pressed}");
    assert!(page.panel_tab().text().contains("File"));

    page.run("location.hash = 'nonsense'", Vec::new());
    page.find("[data-view-notice]").wait_text("stays as it is");
    page.run("location.hash = 'v1;device=77'", Vec::new());
    page.find("[data-view-notice]").wait_text("does not have");
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1", whole.x1 / 4.0));
}

#[test]
fn whoever_shares_hears_what_they_typed() {
    let page = sample();
    page.tab("Allocations").click();
    page.searchbox("Search allocations").click();
    page.press("relu");
    page.wait_for_address("find=relu");
    page.button("Share").click();
    page.dialog("*").find("[data-typed]").wait_text("“relu”");
}
