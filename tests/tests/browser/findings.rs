//! Tests the page's explanations: findings, steps, and colours by category.

use shared::analysis::FindingCode;
use testkit::browser::Spot;

use crate::journey::Journey;

const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";
const OUT_OF_MEMORY: &str = "virtual-py-gpt2-oom-t4.pickle.gz";
const HEALTHY: &str = "virtual-py-hf-gpt2-h100.pickle.gz";
const WITHOUT_NAMED_STEPS: &str = "torch2.5-train-mixed-from-start.pickle.gz";

/// Spot in the second row above the plot, which has the steps if the first has annotations.
const ROW: Spot = Spot(0.5, 0.078);

/// Opens a healthy run and waits for its findings.
fn healthy() -> Journey {
    let page = Journey::with(HEALTHY);
    page.lead().wait();
    page
}

#[test]
fn the_first_tab_says_what_holds_the_peak_and_leads_to_its_evidence() {
    let page = healthy();
    assert!(page.panel_tab().text().starts_with("Findings"));
    let lead = page.lead().text();
    assert!(lead.contains("No problem found") && lead.contains("from step to step"), "{lead}");
    let peak = page.finding(FindingCode::Peak).text();
    assert!(peak.contains("The peak of") && peak.contains("activations"), "{peak}");
    page.screenshot("findings");
    let whole = page.view();
    page.finding(FindingCode::Peak).button("Show in timeline").click();
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    page.settle();
    // The finding is about a category: it is set apart in the timeline and in the table below.
    page.wait_for("/kind=category:/.test(location.hash) && /color=category/.test(location.hash)");
    page.wait_for("/dock=allocations/.test(location.hash)");
    assert!(page.panel_tab().text().starts_with("Findings"));
    let parts = page.finding(FindingCode::Peak).find("[data-part]");
    assert!(parts.nth(0).text().contains("iB"), "{}", parts.nth(0).text());
    parts.nth(0).button("Show *").click();
    page.wait_for("/kind=(stack|group-frame):/.test(location.hash)");
}

#[test]
fn an_out_of_memory_error_comes_first_and_its_remedy_is_tried_in_what_if() {
    let page = Journey::with(OUT_OF_MEMORY);
    page.lead().wait();
    let first = page.region("Findings").find("[data-code]").nth(0).text();
    assert!(first.contains("Error") && first.contains("Out of memory: tried to allocate"), "{first}");
    assert!(page.tab("Findings*").text().trim_start_matches("Findings").trim().parse::<u32>().unwrap() > 0);
    page.finding(FindingCode::OutOfMemory).find("[data-step=try]").nth(0).button("Try in What if").click();
    page.wait_for("/dock=what-if/.test(location.hash)");
    page.role("form", "Settings of the replay").wait();
}

#[test]
fn a_finding_opens_to_its_reasons_and_stacks() {
    let page = healthy();
    let table = page.table("Memory that stays after steps").text();
    assert!(table.contains("optimizer state") && !table.contains("grows"), "{table}");
    let peak = page.finding(FindingCode::Peak);
    peak.button("Why").click();
    assert!(peak.find("details[open]").text().contains("Confidence"));
    peak.button("* stack*").click();
    peak.find("[aria-expanded]").click();
    peak.find("[data-stack] li").wait();
}
#[test]
fn one_card_serves_findings_and_what_if() {
    let page = Journey::with(OUT_OF_MEMORY);
    page.lead().wait();
    let of_findings = page.region("Findings").combobox("GPU memory");
    let of_replay = page.role("form", "Settings of the replay").combobox("GPU memory");
    of_findings.choose("t4-16gb");
    let outside_pytorch = page.finding(FindingCode::OutsidePytorch);
    outside_pytorch.wait();
    let outside = outside_pytorch.text();
    assert!(outside.contains("in use outside PyTorch's allocator"), "{outside}");
    page.screenshot("findings-card");
    page.tab("What if").click();
    of_replay.wait_until("it.selectedOptions[0].text.startsWith('t4-16gb')");
    of_replay.choose("l4-24gb");
    of_findings.wait_until("it.selectedOptions[0].text.startsWith('l4-24gb')");
    outside_pytorch.wait_until(&format!("it.innerText !== {}", serde_json::json!(outside)));
}

#[test]
fn a_finding_leads_to_its_device() {
    let page = Journey::with(DATA_PARALLEL);
    page.lead().wait();
    page.region("Findings").button("GPU 2").click();
    page.wait_for_device(2);
    page.settle();
}

#[test]
fn keys_and_clicks_go_from_step_to_step() {
    let page = Journey::with(WITHOUT_NAMED_STEPS);
    page.lead().wait();
    let whole = page.view();
    page.press(".");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    let first = page.view();
    page.press(".");
    page.wait_for_view(&format!("x0 >= {}", first.x1 - 1.0));
    page.press(",");
    page.wait_for_view(&format!("x0 <= {} && x0 >= {}", first.x0 + 1.0, first.x0 - 1.0));
    page.press("0");
    page.wait_for_view(&format!("x1 - x0 >= {}", whole.width()));

    page.plot().hover(ROW);
    let title = page.plot().wait_until("it.title");
    let title = title.as_str().unwrap();
    assert!(title.starts_with("step ") && title.contains("inferred"), "{title}");
    page.plot().drag(ROW, ROW);
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.9));
}

#[test]
fn categories_have_colours_that_an_address_keeps() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page.button("Category").click();
    let categories = page.list("Categories");
    categories.find("[data-category]").wait_until_all("all.length > 2");
    page.settle();
    assert!(categories.text().contains("activations"), "{}", categories.text());
    let hash = page.wait_for("location.hash.includes('color=category') && location.hash");
    page.screenshot("categories");
    page.visit(&format!("/?sample&again{}", hash.as_str().unwrap()));
    page.wait_for_timeline();
    categories.find("[data-category]").wait_until_all("all.length > 2");
}
