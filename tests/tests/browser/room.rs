//! Tests the room of the views below the timeline, the list of events, and what the user marks in the timeline.

use testkit::browser::Spot;

use crate::journey::{Journey, MIDDLE, snapshot};

const SNAPSHOT: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";

const ESC: &str = "\u{e00c}";
const DOWN: &str = "\u{e015}";

/// Returns the height of the open view below the timeline, in CSS pixels.
fn dock_height(page: &Journey) -> f64 {
    page.find("[data-dock-views]").value("it.getBoundingClientRect().height").as_f64().unwrap()
}

#[test]
fn a_view_opens_with_half_of_the_window_and_a_key_maximizes_it() {
    let page = Journey::start_sized("/?sample", 1440, 900);
    page.wait_for_timeline();
    page.press("g");
    page.role("tabpanel", "Flame graph").wait();
    assert!(dock_height(&page) >= 430.0, "{}", dock_height(&page));
    let plot = page.plot().value("it.getBoundingClientRect().height").as_f64().unwrap();
    assert!(plot >= 160.0, "the plot keeps its room: {plot}");
    let line = page.figures().value("it.getBoundingClientRect().height").as_f64().unwrap();
    assert!(line < 40.0, "the figures fold to a line: {line}");
    page.screenshot("room-open");

    page.press("f");
    page.wait_for_address("dock=flame;dock-size=full");
    page.wait_for("document.querySelector('[data-dock-views]').getBoundingClientRect().height > 680");
    assert_eq!(page.value("document.querySelector('[data-timeline]').checkVisibility()"), false);
    assert_eq!(page.value("document.querySelector('[data-minimap]').checkVisibility()"), true);
    page.screenshot("room-full");
    page.reload();
    page.role("tabpanel", "Flame graph").wait();
    page.wait_for("document.querySelector('[data-dock-views]').getBoundingClientRect().height > 680");

    page.press("f");
    page.wait_for("document.querySelector('[data-timeline]').checkVisibility()");
    page.press("g");
    page.role("tabpanel", "Flame graph").wait_gone();
}

#[test]
fn the_timeline_folds_to_its_minimap() {
    let page = Journey::start_sized("/?sample", 1440, 900);
    page.wait_for_timeline();
    page.tab("Segments").click();
    let grip = page.role("separator", "Height of the view below");
    grip.focus();
    for _ in 0..12 {
        page.press("\u{e013}"); // Up
    }
    page.wait_for("!document.querySelector('[data-timeline]').checkVisibility()");
    let minimap = page.find("[data-minimap]").value("it.getBoundingClientRect().height").as_f64().unwrap();
    assert!(minimap > 40.0, "{minimap}");
    let dragged = dock_height(&page);
    page.reload();
    page.role("tabpanel", "Segments").wait();
    page.wait_for(&format!("document.querySelector('[data-dock-views]').getBoundingClientRect().height === {dragged}"));
}

#[test]
fn a_phone_scrolls_to_the_chosen_view() {
    let page = Journey::start_sized("/?sample", 390, 844);
    page.wait_for_timeline();
    let band = Spot(0.5, 0.9);
    page.plot().drag(band, band);
    page.pinned().wait();
    // What was clicked is said at the end of the window.
    page.wait_for("document.querySelector('[data-tapped]')?.getBoundingClientRect().bottom === innerHeight");
    page.press("\u{e00c}"); // Escape
    page.pinned().wait_gone();
    page.tab("Allocations").click();
    page.wait_for(
        "(() => { const top = document.querySelector('[data-dock-views]').getBoundingClientRect().top;
            return top > 0 && top < 400; })()",
    );
    page.screenshot("room-phone");
}

#[test]
fn events_follow_the_pointer_and_show_their_stacks() {
    // In a lower window, the list folds the plot to its minimap.
    let page = Journey::start_sized("/", 1440, 900);
    page.attach(&[&snapshot(SNAPSHOT)]);
    page.wait_for_timeline();
    page.press("v");
    let list = page.grid("Events");
    list.wait();
    page.plot().hover(Spot(0.7, 0.72));
    list.find("[data-active]").wait();
    page.wait_for("document.querySelector('[data-active] [data-cell=event]').innerText.replace(/,/g, '') > 100");
    list.find("[data-action=alloc]").nth(0).click();
    let card = page.find("[data-event]");
    card.wait_text("Stack");
    page.wait_for_address("dock=events;event=");
    let first = card.attribute("data-event");
    list.focus();
    page.press(DOWN);
    card.wait_until(&format!("Number(it.dataset.event) === {first} + 1"));
    page.screenshot("room-events");
    page.reload();
    page.wait_for_timeline();
    page.find("[data-event]").wait_until(&format!("Number(it.dataset.event) === {first} + 1"));
}

#[test]
fn bookmarks_and_measurements_are_in_the_address() {
    let page = Journey::with(SNAPSHOT);
    page.plot().hover(MIDDLE);
    page.find("[data-tooltip]").wait_text("event");
    page.press("b");
    let note = page.textbox("Note of the bookmark, *");
    note.wait();
    note.focus();
    page.press("the leak begins");
    page.press("\u{e007}"); // Enter
    page.wait_for_address("the%20leak%20begins");
    page.plot().hover(Spot(0.2, 0.5));
    page.find("[data-tooltip]").wait_text("event");
    page.press(ESC);
    page.value("document.activeElement.blur()");
    page.press("x");
    page.status("Measurement").wait_text("A: ");
    page.plot().hover(Spot(0.8, 0.5));
    page.press("x");
    page.status("Measurement").wait_text("A to B: live ");
    page.screenshot("room-measure");
    page.reload();
    page.wait_for_timeline();
    page.status("Measurement").wait_text("A to B: live ");
    assert_eq!(page.textbox("Note of the bookmark, *").value("it.value"), "the leak begins");
    page.button("Remove the bookmark, *").click();
    page.button("End").click();
    page.region("Bookmarks and measurement").wait_gone();
}

#[test]
fn columns_are_chosen_and_kept_in_the_address() {
    let page = Journey::with(SNAPSHOT);
    page.press("l");
    let table = page.grid("Allocations");
    table.wait();
    page.find("details:has([aria-label=Columns]) summary").click();
    for column in ["Address", "Phase", "Rounded", "Lifetime"] {
        page.checkbox(column).click();
    }
    page.wait_for_address("columns=allocated,category,phase,rounded,address");
    table.find("[role=columnheader][data-column=Address]").wait();
    table.find("[role=gridcell][data-column=Title]").wait();
    assert!(!table.find("[role=columnheader][data-column=Lifetime]").is_there());
    page.screenshot("room-columns");
    page.reload();
    page.wait_for_timeline();
    page.grid("Allocations").find("[role=columnheader][data-column=Rounded]").wait();
}

#[test]
fn groups_open_to_their_allocations() {
    let page = Journey::with(SNAPSHOT);
    page.press("l");
    page.combobox("Rows").choose("By stack");
    let groups = page.grid("Groups of allocations");
    groups.find("[aria-expanded=false]").wait();
    groups.find("[aria-expanded=false] button").nth(0).click();
    groups.find("[data-level=member]").wait();
    groups.find("[aria-expanded=true]").wait_count(1);
    page.screenshot("room-groups");
    groups.find("[aria-expanded=true] button").click();
    groups.find("[data-level=member]").wait_gone();
}

#[test]
fn areas_have_names_and_bytes() {
    let page = Journey::with(SNAPSHOT);
    page.button("Area").click();
    let areas = page.role("list", "Areas");
    areas.find("[data-area]").wait();
    page.wait_for_address("color=area");
    page.button("own function").click();
    page.wait_for_address("color=area-function");
    areas.wait_text("iB");
    page.plot().hover(Spot(0.6, 0.9));
    page.find("[data-tooltip]").wait_text("of the live bytes");
    let count = areas.find("[data-area]").count();
    assert!((2..=11).contains(&count), "{count}");
    page.screenshot("room-area");
}
