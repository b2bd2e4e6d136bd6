//! Tests the page's explanations: findings, steps, and colours by category.

use testkit::browser::Spot;

use crate::journey::{Journey, PLOT};

const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";
const OUT_OF_MEMORY: &str = "virtual-py-gpt2-oom-t4.pickle.gz";
const WITHOUT_NAMED_STEPS: &str = "torch2.5-train-mixed-from-start.pickle.gz";

/// Spot in the second row above the plot, which has the steps if the first has annotations.
const ROW: Spot = Spot(0.5, 0.078);

/// Opens the sample and waits for its findings.
fn sample() -> Journey {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    wait_for_findings(&page);
    page
}

#[track_caller]
fn wait_for_findings(page: &Journey) {
    page.wait_for("document.querySelector('.findings-lead') !== null");
}

#[test]
fn the_first_tab_says_what_holds_the_peak_and_what_leaks() {
    let page = sample();
    assert_eq!(page.value("document.querySelector('.panel-tabs [aria-selected=true]').id"), "tab-findings");
    let lead = page.text(".findings-lead");
    assert!(lead.contains("No problem found") && lead.contains("from step to step"), "{lead}");
    let peak = page.text("[data-code=peak]");
    assert!(peak.contains("The peak of") && peak.contains("activations"), "{peak}");
    page.screenshot("findings");
    page.check_console();
}

#[test]
fn evidence_is_one_click_away() {
    let page = sample();
    let whole = page.view();
    page.click("[data-code=peak] .finding-show button");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    page.settle();
    let event = page.wait_for("location.hash.match(/pin=e(\\d+)@/)?.[1]");
    let moment = event.as_str().unwrap().parse::<f64>().unwrap() + 1.0;
    let shown = page.view();
    assert!(shown.x0 <= moment && moment <= shown.x1, "{moment} in {shown:?}");
    assert_eq!(page.value("document.querySelector('.panel-tabs [aria-selected=true]').id"), "tab-findings");
    page.check_console();
}

#[test]
fn a_finding_opens_to_its_reasons_and_stacks() {
    let page = sample();
    page.click("[data-code=peak] details:first-of-type summary");
    assert!(page.text("[data-code=peak] details[open]").contains("Confidence"));
    page.click("[data-code=peak] details:last-of-type summary");
    page.click("[data-code=peak] .top-stack-head");
    page.wait_for("document.querySelectorAll('[data-code=peak] .frame').length > 0");
    page.check_console();
}

#[test]
fn an_out_of_memory_error_comes_first() {
    let page = Journey::with(OUT_OF_MEMORY);
    wait_for_findings(&page);
    let first = page.text(".finding:first-child");
    assert!(first.contains("Error") && first.contains("Out of memory at event"), "{first}");
    assert!(page.text("#tab-findings").trim_start_matches("Findings").trim().parse::<u32>().unwrap() > 0);
    page.check_console();
}

#[test]
fn what_stays_after_steps_has_its_reason() {
    let page = sample();
    let table = page.text(".growth-table");
    assert!(table.contains("optimizer state") && !table.contains("grows"), "{table}");
    page.check_console();
}

#[test]
fn one_card_serves_findings_and_what_if() {
    let page = Journey::with(OUT_OF_MEMORY);
    wait_for_findings(&page);
    let choose = |id: &str, name: &str| {
        page.value(&format!(
            "(() => {{ const list = document.getElementById({id:?}); \
             list.selectedIndex = [...list.options].findIndex(option => option.text.startsWith({name:?})); \
             list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        ));
    };
    choose("findings-card", "t4-16gb");
    page.wait_for("document.querySelector('[data-code=outside-pytorch]') !== null");
    let outside = page.text("[data-code=outside-pytorch]");
    assert!(outside.contains("in use outside PyTorch's allocator"), "{outside}");
    page.screenshot("findings-card");
    page.click("#dock-what-if");
    page.wait_for("document.getElementById('what-if-card')?.selectedOptions[0].text.startsWith('t4-16gb')");
    choose("what-if-card", "l4-24gb");
    page.wait_for("document.getElementById('findings-card').selectedOptions[0].text.startsWith('l4-24gb')");
    page.wait_for("document.querySelector('[data-code=outside-pytorch]')?.innerText.includes('GiB of GPU memory')");
    page.check_console();
}

#[test]
fn a_finding_leads_to_its_device() {
    let page = Journey::with(DATA_PARALLEL);
    wait_for_findings(&page);
    page.run(
        "[...document.querySelectorAll('.finding-device')].find(e => e.innerText === 'GPU 2').click()",
        Vec::new(),
    );
    page.wait_for("document.querySelector('[data-device=\"2\"]').ariaSelected === 'true'");
    page.settle();
    page.check_console();
}

#[test]
fn keys_and_clicks_go_from_step_to_step() {
    let page = Journey::with(WITHOUT_NAMED_STEPS);
    wait_for_findings(&page);
    let whole = page.view();
    assert!(page.text(".timeline-legend").contains("steps"), "{}", page.text(".timeline-legend"));
    page.press(".");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    let first = page.view();
    page.press(".");
    page.wait_for_view(&format!("x0 >= {}", first.x1 - 1.0));
    page.press(",");
    page.wait_for_view(&format!("x0 <= {} && x0 >= {}", first.x0 + 1.0, first.x0 - 1.0));
    page.press("0");
    page.wait_for_view(&format!("x1 - x0 >= {}", whole.width()));

    page.hover(PLOT, ROW);
    let title = page.wait_for(&format!("document.querySelector('{PLOT}').title"));
    assert!(title.as_str().unwrap().starts_with("step "), "{title}");
    page.drag(PLOT, ROW, ROW);
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.9));
    page.check_console();
}

#[test]
fn categories_have_colours_that_an_address_keeps() {
    let page = sample();
    page.click_text("button", "Category");
    page.wait_for("document.querySelectorAll('[data-category]').length > 2");
    page.settle();
    assert!(page.text(".timeline-categories").contains("activations"), "{}", page.text(".timeline-categories"));
    let hash = page.wait_for("location.hash.includes('color=category') && location.hash");
    page.screenshot("categories");
    page.visit(&format!("/?sample&again{}", hash.as_str().unwrap()));
    page.wait_for_timeline();
    page.wait_for("document.querySelectorAll('[data-category]').length > 2");
    page.check_console();
}
