//! Tests the What if view: settings, card, curves, results, and the replay as a file.

use testkit::browser::Locator;

use crate::journey::Journey;

const OOM: &str = "virtual-py-gpt2-oom-t4.pickle.gz";

/// Opens the view on a snapshot and waits for its first replay.
fn opened(name: &str) -> Journey {
    let page = Journey::with(name);
    page.tab("What if").click();
    wait_for_replay(&page);
    page
}

/// Waits until the result is that of the settings.
#[track_caller]
fn wait_for_replay(page: &Journey) {
    page.find("[data-replayed=true]").wait();
}

fn conf(page: &Journey) -> Locator<'_> {
    page.textbox("PYTORCH*ALLOC_CONF")
}

#[test]
fn the_recording_is_replayed_beside_itself() {
    let page = opened(OOM);
    let compared = page.table("Recorded and replayed");
    let table = compared.text();
    for part in ["Peak reserved", "Fragmentation", "Driver calls", "Garbage collections", "at event 7,643"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    page.checkbox("Expandable segments*").click();
    assert_eq!(conf(&page).value("it.value"), "expandable_segments:True");
    wait_for_replay(&page);
    compared.wait_text("better");
    page.screenshot("what-if");
}

#[test]
fn a_part_of_the_events_is_read_out_and_what_is_not_modelled_refused_by_name() {
    let page = opened(OOM);
    let curves = page.group("Fragmentation and driver calls over the events*");
    let reading = page.region("Replay").role("figure", "*").status("*");
    let all = reading.text();
    assert!(all.starts_with("All 7,646 events: ") && all.contains("out of memory in the recording 1×"), "{all}");
    curves.find("canvas").wait_until_all(
        "all.length === 2 && all.every(it => \
         it.getContext('2d').getImageData(0, 0, it.width, it.height).data.some(value => value > 0))",
    );
    curves.focus();
    page.press("\u{e012}"); // Left
    curves.wait_until("it.dataset.part !== undefined");
    let part = reading.text();
    assert!(part.starts_with("Events 7,5") && part.contains(" to 7,645: "), "{part}");
    page.press("\u{e00c}"); // Esc
    curves.wait_until("it.dataset.part === undefined");
    conf(&page).write("backend:cudaMallocAsync");
    page.role("form", "Settings of the replay").role("alert", "*").wait_text("backend:cudaMallocAsync");
    assert_eq!(conf(&page).value("it.ariaInvalid"), "true");
}

#[test]
fn settings_are_tried_and_one_is_taken_over() {
    let page = opened(OOM);
    // The view begins with its answer: the sweep starts by itself.
    page.find("[data-done=true]").wait();
    let answer = page.region("Answer");
    assert!(answer.find("[role=status]").text().contains("setting"), "{}", answer.text());
    answer.find("li").wait_until_all("all.length >= 1");
    page.region("Settings that were tried").find("[data-mark^=best]").wait();
    page.screenshot("what-if-answer");
    page.button("Apply expandable_segments:True").click();
    assert_eq!(conf(&page).value("it.value"), "expandable_segments:True");
}

#[test]
fn the_replay_opens_as_a_file() {
    let page = opened(OOM);
    conf(&page).write("expandable_segments:True");
    wait_for_replay(&page);
    page.button("Open the replay").click();
    page.wait_for_files(2);
    page.wait_for("document.title.startsWith('replay, expandable_segments:True')");
}
