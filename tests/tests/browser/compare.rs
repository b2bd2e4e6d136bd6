//! Tests the comparison of moments of one file, of two files, and of ranks.

use testkit::browser::Locator;

use crate::journey::{Journey, snapshot};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";
const EXPANDABLE: &str = "torch2.15-gpt2-3steps-expandable-py311.pickle.gz";
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

/// Waits for the difference of the chosen sides and returns the number of stacks that differ.
#[track_caller]
fn stacks(page: &Journey) -> i64 {
    let stacks = page.find("[data-compare]").wait_until("it.dataset.stacks");
    stacks.as_str().and_then(|text| text.parse().ok()).expect("a number of stacks")
}

#[track_caller]
fn choose(page: &Journey, this: &str, other: &str) {
    page.combobox("Moment of this side").choose_value(this);
    page.combobox("Moment of the other side").choose_value(other);
}

fn differences(page: &Journey) -> Locator<'_> {
    page.grid("Differences")
}

/// Returns the curves of both sides, once both have arrived.
fn curves(page: &Journey) -> Locator<'_> {
    page.region("Both sides").find("[data-curves]")
}

#[test]
fn moments_of_one_file_are_compared_pinned_filtered_and_grouped() {
    let page = Journey::with(GPT2);
    page.tab("Compare").click();
    assert_eq!(stacks(&page), 0, "the last step holds what the second one held");
    page.combobox("Moment of the other side").choose_value("s0");
    page.find("[data-compare]").wait_until("it.dataset.stacks > 0");
    let total = page.region("Both sides").status("*").text();
    assert!(total.contains("optimizer state"), "the first step had none yet: {total}");
    curves(&page).wait_until("it.dataset.curves === '2'");
    page.screenshot("compare-steps");

    choose(&page, "peak", "peak");
    page.find("[data-compare]").wait_until("it.dataset.stacks === '0'");
    assert!(differences(&page).text().contains("Both sides are the same"));
    choose(&page, "peak", "start");
    differences(&page).find("[data-pickable]").click();
    page.pinned().wait();
    let chosen = page.combobox("Moment of the other side").value("it.value");
    assert_eq!(chosen, "start", "the pin is one more entry, and not another choice");

    // By keyboard as well: the second row is another stack.
    let pinned = page.pinned().value("it.dataset.allocation");
    differences(&page).role("rowgroup", "Rows").focus();
    page.press("\u{e015}");
    page.press("\u{e007}");
    page.pinned().wait_until(&format!("it.dataset.allocation !== {pinned}"));
    page.region("Differences").status("*").wait_text("difference");
    page.group("Group by").button("Category").click();
    differences(&page).wait_text("activations");
    page.searchbox("Filter").focus();
    page.press("optim");
    differences(&page).find("[role=row][aria-selected]").wait_count(1);
    assert!(differences(&page).text().contains("optimizer state"));
}

#[test]
fn two_files_are_compared_at_their_peaks() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(GPT2), &snapshot(EXPANDABLE)]);
    page.wait_for_files(2);
    page.wait_for_timeline();
    page.tab("Compare").click();
    stacks(&page);
    let legend = page.region("Both sides").list("*").text();
    assert!(legend.contains(GPT2) && legend.contains(EXPANDABLE), "{legend}");
    page.screenshot("compare-files");
}

#[test]
fn devices_of_one_process_are_ranks() {
    let page = Journey::with(DATA_PARALLEL);
    page.tab("Compare").click();
    page.button("Ranks").click();
    page.find("[data-ranks]").wait_until("it.dataset.ranks === '4'");
    let strips = page.list("Ranks").text();
    assert!(strips.contains("rank 0 peaks") && strips.contains("above the median"), "{strips}");
    page.screenshot("compare-ranks");
    page.list("Ranks").button("*").nth(2).click();
    page.wait_for_device(2);
}
