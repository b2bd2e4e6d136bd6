//! Tests the segments below the timeline: moments, the map, and segments held by few live bytes.

use testkit::browser::{Locator, Spot};

use crate::journey::Journey;

fn segments() -> Journey {
    let page = Journey::with("torch2.5-train-mixed-from-start.pickle.gz");
    page.tab("Segments").click();
    map(&page).wait();
    page
}

fn map(page: &Journey) -> Locator<'_> {
    page.role("application", "Map of segments")
}

fn wait_for_moment(page: &Journey, condition: &str) {
    map(page).wait_until(&format!("(moment => {condition})(Number(it.dataset.moment))"));
}

fn held(page: &Journey) -> Locator<'_> {
    page.role("complementary", "Mostly free segments")
}

#[test]
fn it_begins_where_the_most_is_reserved_and_segment_events_are_a_step_apart() {
    let page = segments();
    wait_for_moment(&page, "moment === 5194");
    let text = page.group("Reserved memory by use").text();
    for part in
        ["Reserved", "1.12 GiB", "In use", "Rounding", "Unsplit remainder", "Free in used segments", "Free segments"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let held = held(&page).text();
    assert!(held.contains("25.9 MiB of 28.0 MiB"), "{held}");
    page.screenshot("segments");
    page.button("Previous segment event").click();
    wait_for_moment(&page, "moment < 5194");
    page.button("Next segment event").click();
    wait_for_moment(&page, "moment === 5194");
    page.toolbar("Segments").button("End").click();
    wait_for_moment(&page, "moment > 5194");
}

#[test]
fn the_keyboard_goes_from_block_to_block_and_pins() {
    let page = segments();
    held(&page).button("*").click();
    let block = page.status("Block");
    block.wait_text("1.59 MiB in use");
    map(&page).focus();
    page.press("\u{e012}"); // Left
    block.wait_text("24.4 MiB free");
    page.press("\u{e014}"); // Right
    block.wait_text("1.59 MiB in use");
    page.press("\u{e007}"); // Enter
    page.pinned().wait_text("1.31 MiB");
}

#[test]
fn pointing_at_a_block_says_what_it_is() {
    let page = segments();
    map(&page).hover(Spot(0.03, 0.23));
    page.region("Segments").find("[data-tooltip]").wait_text("segment of");
}
