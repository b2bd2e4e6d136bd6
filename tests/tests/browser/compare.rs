//! Tests the comparison of moments of one file, of two files, and of ranks.

use crate::journey::{Journey, snapshot};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";
const EXPANDABLE: &str = "torch2.15-gpt2-3steps-expandable-py311.pickle.gz";
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

/// Waits for the difference of the chosen sides and returns the number of stacks that differ.
#[track_caller]
fn stacks(page: &Journey) -> i64 {
    let stacks = page.wait_for("document.querySelector('[data-compare]')?.dataset.stacks");
    stacks.as_str().and_then(|text| text.parse().ok()).expect("a number of stacks")
}

/// Chooses an entry of a list by its value, as a user does.
#[track_caller]
fn choose(page: &Journey, label: &str, value: &str) {
    let script = "
        const [label, value] = arguments;
        const select = document.querySelector(`select[aria-label='${label}']`);
        select.value = value;
        select.dispatchEvent(new Event('change', { bubbles: true }));";
    page.run(script, vec![label.into(), value.into()]);
}

#[test]
fn steps_of_one_file_differ_in_what_stays() {
    let page = Journey::with(GPT2);
    page.click("#dock-compare");
    assert_eq!(stacks(&page), 0, "the last step holds what the second one held");
    choose(&page, "Moment of the other side", "s0");
    page.wait_for("document.querySelector('[data-compare]').dataset.stacks > 0");
    assert!(page.text(".compare-total").contains("optimizer state"), "the first step had none yet");
    page.wait_for("document.querySelectorAll('.compare-line').length === 2");
    page.screenshot("compare-steps");

    choose(&page, "Moment of this side", "peak");
    choose(&page, "Moment of the other side", "peak");
    page.wait_for("document.querySelector('[data-compare]').dataset.stacks === '0'");
    assert!(page.text(".compare-list").contains("Both sides are the same"));
    page.check_console();
}

#[test]
fn a_row_pins_its_largest_allocation() {
    let page = Journey::with(GPT2);
    page.click("#dock-compare");
    choose(&page, "Moment of this side", "peak");
    choose(&page, "Moment of the other side", "start");
    page.wait_for("document.querySelector('.compare-row.pickable') !== null");
    page.click(".compare-row.pickable");
    page.wait_for("document.querySelector('.allocation.pinned') !== null");
    let chosen = "document.querySelector(\"select[aria-label='Moment of the other side']\").value";
    assert_eq!(page.value(chosen), "start", "the pin is one more entry, and not another choice");

    // By keyboard as well: the second row is another stack.
    let pinned = page.value("document.querySelector('[data-allocation]').dataset.allocation");
    page.run("document.querySelector('.compare-list').focus()", Vec::new());
    page.press("\u{e015}");
    page.press("\u{e007}");
    page.wait_for(&format!("document.querySelector('[data-allocation]').dataset.allocation !== {pinned}"));
    page.check_console();
}

#[test]
fn the_table_is_filtered_and_grouped() {
    let page = Journey::with(GPT2);
    page.click("#dock-compare");
    choose(&page, "Moment of this side", "peak");
    choose(&page, "Moment of the other side", "start");
    page.wait_for("document.querySelector('.compare-count')?.innerText.includes('difference')");
    page.click_text("section[contains(@class, 'dock')]//button", "Category");
    page.wait_for("document.querySelector('.compare-list')?.innerText.includes('activations')");
    page.run("document.querySelector('.compare-filter').focus()", Vec::new());
    page.press("optim");
    page.wait_for("document.querySelectorAll('.compare-list .compare-row').length === 1");
    assert!(page.text(".compare-list").contains("optimizer state"));
    page.check_console();
}

#[test]
fn two_files_are_compared_at_their_peaks() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(GPT2), &snapshot(EXPANDABLE)]);
    page.wait_for("document.querySelectorAll('.file-tab.ready').length === 2");
    page.wait_for_timeline();
    page.click("#dock-compare");
    stacks(&page);
    let legend = page.text(".compare-legend");
    assert!(legend.contains(GPT2) && legend.contains(EXPANDABLE), "{legend}");
    page.screenshot("compare-files");
    page.check_console();
}

#[test]
fn devices_of_one_process_are_ranks() {
    let page = Journey::with(DATA_PARALLEL);
    page.click("#dock-compare");
    page.click_text("button", "Ranks");
    page.wait_for("document.querySelector('[data-ranks]')?.dataset.ranks === '4'");
    let strips = page.text(".compare-ranks");
    assert!(strips.contains("rank 0 peaks") && strips.contains("above the median"), "{strips}");
    page.screenshot("compare-ranks");
    page.click(".compare-ranks li:nth-child(3) button");
    page.wait_for("document.querySelector('[data-device=\"2\"]').ariaSelected === 'true'");
    page.check_console();
}
