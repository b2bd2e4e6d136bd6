//! Tests that choices below the timeline are in the URL, so that a reload or a pasted URL shows the same.

use serde_json::json;
use testkit::browser::Spot;

use crate::journey::Journey;

const GRAPH: &str = "[data-flame]";

fn sample() -> Journey {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page
}

/// Reloads the current URL.
fn reload(page: &Journey) {
    page.run("window.isOld = true; location.reload()", Vec::new());
    page.wait_for("window.isOld === undefined && document.querySelector('header') !== null");
    page.wait_for_timeline();
}

/// Waits until the URL's fragment contains a text.
#[track_caller]
fn wait_for_address(page: &Journey, part: &str) {
    page.wait_for(&format!("location.hash.includes('{part}')"));
}

/// Chooses an entry of a list by its text.
#[track_caller]
fn choose(page: &Journey, label: &str, text: &str) {
    let script = "
        const [label, text] = arguments;
        const select = document.querySelector(`select[aria-label='${label}']`);
        select.selectedIndex = [...select.options].findIndex(option => option.text === text);
        select.dispatchEvent(new Event('change', { bubbles: true }));";
    page.run(script, vec![json!(label), json!(text)]);
}

/// Waits until an element has a text, for example after a reload.
#[track_caller]
fn wait_for_text(page: &Journey, selector: &str, text: &str) {
    page.wait_for(&format!("document.querySelector('{selector}')?.innerText === {}", json!(text)));
}

/// Opens the table of allocations, grouped by stack.
#[track_caller]
fn open_stacks(page: &Journey) {
    page.click("#dock-allocations");
    choose(page, "Rows", "By stack");
    page.wait_for_element("[data-column=Count] .table-sort");
}

#[test]
fn the_table_of_allocations_is_the_same_after_a_reload() {
    let page = sample();
    open_stacks(&page);
    choose(&page, "Scope", "In view: all");
    page.click("#dock-search");
    page.press("a");
    page.wait_for_element("[data-found=a]");
    page.click("[data-column=Count] .table-sort");
    wait_for_address(&page, "rows=stack;sort=count-");
    wait_for_address(&page, "when=view;find=a");
    let totals = page.text(".table-totals");
    let first = page.text(".table-row .table-title");
    reload(&page);
    wait_for_text(&page, ".table-totals", &totals);
    assert_eq!(page.text(".table-row .table-title"), first);
    assert_eq!(page.value("document.querySelector('#dock-search').value"), "a");
    page.check_console();
}

#[test]
fn a_group_is_found_again() {
    let page = sample();
    open_stacks(&page);
    page.wait_for_element(".table-row[aria-selected]");
    page.click(".table-row");
    page.wait_for_element(".scope-group");
    wait_for_address(&page, "group=stack:");
    page.wait_for("document.querySelector('.table-totals').innerText.includes(' of ')");
    let (group, totals) = (page.text(".scope-group"), page.text(".table-totals"));
    reload(&page);
    wait_for_text(&page, ".scope-group", &group);
    wait_for_text(&page, ".table-totals", &totals);
    page.check_console();
}

#[test]
fn a_part_of_the_flame_graph_is_the_same_after_a_reload() {
    let page = sample();
    page.click("#dock-flame");
    page.wait_for(&format!("Number(document.querySelector('{GRAPH}')?.dataset.boxes) > 3"));
    page.click_text("button", "Inverted");
    page.wait_for(&format!("document.querySelector('{GRAPH}').getAttribute('aria-busy') === 'false'"));
    let deep = Spot(0.02, 0.25);
    page.drag(GRAPH, deep, deep);
    wait_for_address(&page, "stacks=inverted");
    wait_for_address(&page, "zoom=");
    page.wait_for(&format!("document.querySelector('{GRAPH}').dataset.settled === 'true'"));
    let edges = format!("(g => `${{g.x0}} ${{g.x1}}`)(document.querySelector('{GRAPH}').dataset)");
    let before = page.value(&edges);
    reload(&page);
    page.wait_for(&format!("document.querySelector('{GRAPH}') !== null && {edges} === {before}"));
    page.check_console();
}

#[test]
fn a_sandwich_is_the_same_after_a_reload() {
    let page = sample();
    page.click("#dock-flame");
    page.click_text("button", "Table");
    page.wait_for("Number(document.querySelector('[data-sites]')?.dataset.sites) > 3");
    page.run("document.querySelector('.flame-table tbody tr:not(.spacer)').click()", Vec::new());
    page.wait_for_element(".flame-table tr.chosen");
    wait_for_address(&page, "stacks=table;function=");
    let chosen = page.text(".flame-table tr.chosen");
    reload(&page);
    page.wait_for_element(".flame-table tr.chosen");
    assert_eq!(page.text(".flame-table tr.chosen"), chosen);
    page.wait_for(&format!("document.querySelectorAll('{GRAPH}').length === 2"));
    page.check_console();
}

#[test]
fn segments_settings_and_sides_are_the_same_after_a_reload() {
    let page = sample();
    page.click("#dock-segments");
    page.wait_for_element(".segments-controls");
    page.click(".segments-controls [title='After the last event']");
    page.click(".segments-controls [title='In use, pending or free']");
    wait_for_address(&page, "at=end;blocks=state");
    reload(&page);
    page.wait_for_element(".segments-controls");
    let pressed = page.text(".segments-controls [aria-pressed=true]");
    assert!(pressed.contains("End") && pressed.contains("State"), "{pressed}");

    page.click("#dock-what-if");
    page.wait_for_element("#what-if-conf");
    page.click("#what-if-expandable_segments");
    wait_for_address(&page, "conf=expandable_segments:True");
    reload(&page);
    page.wait_for("document.querySelector('#what-if-conf')?.value === 'expandable_segments:True'");

    page.click("#dock-compare");
    page.wait_for("document.querySelector('[data-compare]')?.dataset.stacks");
    let script = "
        const select = document.querySelector(`select[aria-label='Moment of the other side']`);
        select.value = 'start';
        select.dispatchEvent(new Event('change', { bubbles: true }));";
    page.run(script, Vec::new());
    wait_for_address(&page, "other=start");
    reload(&page);
    let side = "document.querySelector(\"select[aria-label='Moment of the other side']\")?.value === 'start'";
    page.wait_for(side);
    page.check_console();
}

#[test]
fn an_address_that_is_pasted_into_an_open_page_is_shown() {
    let page = sample();
    let whole = page.view();
    let (x, y) = (format!("{}..{}", whole.x1 / 4.0, whole.x1 / 2.0), format!("{}..{}", whole.y0, whole.y1));
    let view = format!("v1;device=0;axis=events;x={x};y={y};tab=file;dock=flame;stacks=inverted,flames");
    page.run("location.hash = arguments[0]", vec![json!(view)]);
    page.wait_for("document.querySelector('#dock-flame').getAttribute('aria-selected') === 'true'");
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", whole.x1 / 4.0, whole.x1 / 2.0));
    let pressed = page.text(".flame-bar [aria-pressed=true]");
    assert!(pressed.contains("Inverted") && pressed.contains("Root below"), "{pressed}");
    assert!(page.text(".panel-tabs [aria-selected=true]").contains("File"));

    page.run("location.hash = 'nonsense'", Vec::new());
    page.wait_for("document.querySelector('[data-view-notice]')?.innerText.includes('stays as it is')");
    page.run("location.hash = 'v1;device=77'", Vec::new());
    page.wait_for("document.querySelector('[data-view-notice]')?.innerText.includes('does not have')");
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1", whole.x1 / 4.0));
    page.check_console();
}

#[test]
fn whoever_shares_hears_what_they_typed() {
    let page = sample();
    page.click("#dock-allocations");
    page.click("#dock-search");
    page.press("relu");
    page.wait_for("location.hash.includes('find=relu')");
    page.click("[aria-label=Share]");
    page.wait_for("document.querySelector('dialog [data-typed]')?.innerText.includes('“relu”')");
    page.check_console();
}
