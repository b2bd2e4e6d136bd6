//! Tests the segments below the timeline: moments, the map, and segments held by few live bytes.

use testkit::browser::Spot;

use crate::journey::Journey;

const MAP: &str = ".segments-scroll";

fn segments() -> Journey {
    let page = Journey::with("torch2.5-train-mixed-from-start.pickle.gz");
    page.click("#dock-segments");
    page.wait_for("document.querySelector('.segments-scroll') !== null");
    page
}

fn wait_for_moment(page: &Journey, condition: &str) {
    page.wait_for(&format!("(moment => {condition})(Number(document.querySelector('{MAP}').dataset.moment))"));
}

#[test]
fn it_begins_where_the_most_is_reserved() {
    let page = segments();
    wait_for_moment(&page, "moment === 5194");
    let text = page.text(".waste");
    for part in ["Reserved", "1.12 GiB", "In use", "Rounding", "Unsplit", "Free in used segments", "Free segments"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(page.text(".held-list").contains("24.4 MiB of 26.0 MiB"));
    page.screenshot("segments");
    page.check_console();
}

#[test]
fn segment_events_are_a_step_apart() {
    let page = segments();
    wait_for_moment(&page, "moment === 5194");
    page.click("[aria-label='Previous segment event']");
    wait_for_moment(&page, "moment < 5194");
    page.click("[aria-label='Next segment event']");
    wait_for_moment(&page, "moment === 5194");
    page.click(".segments-controls [title='After the last event']");
    wait_for_moment(&page, "moment > 5194");
    page.check_console();
}

#[test]
fn the_keyboard_goes_from_block_to_block_and_pins() {
    let page = segments();
    page.click(".held");
    page.wait_for("document.querySelector('.segments-status').innerText.includes('1.59 MiB in use')");
    page.wait_for(&format!("(document.querySelector('{MAP}').focus(), true)"));
    page.press("\u{e012}"); // Left
    page.wait_for("document.querySelector('.segments-status').innerText.includes('24.4 MiB free')");
    page.press("\u{e014}"); // Right
    page.wait_for("document.querySelector('.segments-status').innerText.includes('1.59 MiB in use')");
    page.press("\u{e007}"); // Enter
    page.wait_for("document.querySelector('.allocation.pinned') !== null");
    page.wait_for("document.querySelector('.allocation').innerText.includes('1.31 MiB')");
    page.check_console();
}

#[test]
fn pointing_at_a_block_says_what_it_is() {
    let page = segments();
    page.hover(MAP, Spot(0.03, 0.3));
    page.wait_for(
        "document.querySelector('.segments-map .timeline-tooltip:not([hidden])')?.innerText.includes('segment of')",
    );
    page.check_console();
}
