//! Tests the What if view: settings, card, curves, results, and the replay as a file.

use crate::journey::Journey;

const OOM: &str = "virtual-py-gpt2-oom-t4.pickle.gz";
const REPLAYED: &str = "document.querySelector('[data-replayed=\"true\"]') !== null";

/// Opens the view on a snapshot and waits for its first replay.
fn opened(name: &str) -> Journey {
    let page = Journey::with(name);
    page.click("#dock-what-if");
    page.wait_for(REPLAYED);
    page
}

/// Enters settings all at once.
fn set_conf(page: &Journey, conf: &str) {
    page.value(&format!(
        "(() => {{ const field = document.getElementById('what-if-conf'); field.value = {conf:?}; \
         field.dispatchEvent(new InputEvent('input', {{ bubbles: true }})); }})()"
    ));
}

#[test]
fn the_recording_is_replayed_beside_itself() {
    let page = opened(OOM);
    let table = page.text(".what-if-table");
    for part in ["Peak reserved", "Fragmentation", "Driver calls", "Garbage collections", "at event 7,643"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    page.click("#what-if-expandable_segments");
    assert_eq!(page.value("document.getElementById('what-if-conf').value"), "expandable_segments:True");
    page.wait_for(REPLAYED);
    page.wait_for("document.querySelector('.what-if-table').innerText.includes('better')");
    page.screenshot("what-if");
    page.check_console();
}

#[test]
fn a_part_of_the_events_is_read_out() {
    let page = opened(OOM);
    let all = page.text("#what-if-reading");
    assert!(all.starts_with("All 7,646 events: ") && all.contains("out of memory in the recording 1 time"), "{all}");
    let bars = "document.querySelector('.what-if-recorded-calls').getAttribute('d').length > 0";
    page.wait_for(bars);
    page.value(
        "document.querySelector('.what-if-rows').dispatchEvent(new KeyboardEvent('keydown', \
         { key: 'ArrowLeft', bubbles: true, cancelable: true }))",
    );
    page.wait_for("document.querySelectorAll('.what-if-part').length === 2");
    let part = page.text("#what-if-reading");
    assert!(part.starts_with("Events 7,5") && part.contains(" to 7,645: "), "{part}");
    page.value(
        "document.querySelector('.what-if-rows').dispatchEvent(new KeyboardEvent('keydown', \
         { key: 'Escape', bubbles: true, cancelable: true }))",
    );
    page.wait_for("document.querySelector('.what-if-part') === null");
    page.check_console();
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let page = opened(OOM);
    set_conf(&page, "backend:cudaMallocAsync");
    page.wait_for("document.getElementById('what-if-refusal').innerText.includes('backend:cudaMallocAsync')");
    assert_eq!(page.value("document.getElementById('what-if-conf').ariaInvalid"), "true");
    page.check_console();
}

#[test]
fn settings_are_tried_and_one_is_taken_over() {
    let page = opened(OOM);
    page.click(".what-if-sweep-head button");
    page.wait_for("document.querySelectorAll('.what-if-findings li').length >= 2");
    page.wait_for("document.querySelector('tr[data-mark^=\"best\"]') !== null");
    page.click("[aria-label='Apply expandable_segments:True']");
    assert_eq!(page.value("document.getElementById('what-if-conf').value"), "expandable_segments:True");
    page.check_console();
}

#[test]
fn the_replay_opens_as_a_file() {
    let page = opened(OOM);
    set_conf(&page, "expandable_segments:True");
    page.wait_for(REPLAYED);
    page.click_text("button", "Open the replay");
    page.wait_for("document.querySelectorAll('.file-tab.ready').length === 2");
    page.wait_for("document.title.startsWith('replay, expandable_segments:True')");
    page.check_console();
}
