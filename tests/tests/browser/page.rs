//! Tests the page itself: it loads, obeys its content security policy, and fits its window.

use crate::journey::{Journey, snapshot};
use serde_json::json;

#[test]
fn the_empty_page_says_what_it_is() {
    let page = Journey::start("/");
    let text = page.find("main").text();
    for part in ["Open snapshot", "Try the sample", "snapscope record", "nothing leaves this machine"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(page.value("document.querySelectorAll('input[type=file]').length"), 1);
    assert_eq!(page.value("document.querySelector('input[type=file]').multiple"), true);
}

#[test]
fn snapshots_of_the_site_open_in_the_page() {
    let page = Journey::start("/");
    let follow = |name: &str, address: &str| {
        page.run("window.stays = true", Vec::new());
        page.link(name).click();
        page.wait_for_timeline();
        page.wait_for(&format!("location.search === {}", json!(address)));
        assert_eq!(page.value("window.stays"), true, "no other page was loaded");
    };
    follow("Try the sample", "?sample&tour");
    page.dialog("Tour").wait_text("1 of 4");
    page.visit("/");
    page.find("[data-mistakes='3']").wait();
    follow("Evaluation with gradients enabled", "?gallery=keypoint_validation_bad");
    page.run("history.back()", Vec::new());
    page.link("Try the sample").wait();
    assert_eq!(page.value("location.search"), "");
}

#[test]
fn the_sample_opens_by_its_address() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    assert!(page.figures().text().contains("GiB"), "{}", page.figures().text());
    page.find("[data-headline]").wait_text("speech_losses_bad.py");
    page.screenshot("sample");
}

/// Limit of the bytes transferred before a file is opened.
const START_BYTES: u64 = 300_000;

#[test]
fn the_empty_page_is_small_and_rehearses_unseen() {
    let page = Journey::start("/");
    page.wait_for("performance.getEntriesByName('page-started').length");
    let sent = page.value(
        "(() => {
            const { startTime } = performance.getEntriesByName('page-started')[0];
            const resources = performance.getEntriesByType('resource').filter(e => e.startTime < startTime);
            const all = [...performance.getEntriesByType('navigation'), ...resources];
            return all.map(e => [new URL(e.name).pathname.split('/').pop(), e.encodedBodySize]);
        })()",
    );
    let sent: Vec<(String, u64)> = serde_json::from_value(sent).unwrap();
    let is_sent = |name: &str| sent.iter().any(|(sent, bytes)| sent == name && *bytes > 0);
    assert!(["", "boot.js", "style.css", "home.js", "home_bg.wasm"].into_iter().all(is_sent), "{sent:?}");
    assert!(!sent.iter().any(|(name, _)| name.starts_with("viewer") || name.starts_with("engine")), "{sent:?}");
    let bytes: u64 = sent.iter().map(|(_, bytes)| bytes).sum();
    println!("{bytes} bytes in {} files", sent.len());
    assert!(bytes < START_BYTES, "{bytes} bytes: {sent:#?}");
    let before = page.find("main").text();
    page.wait_for("performance.getEntriesByName('rehearsed').length");
    assert_eq!(page.find("main").text(), before);
    assert_eq!(page.value("[frames.length, history.length, location.search + location.hash]"), json!([0, 2, ""]));
    let stored = page.value("[Object.keys(localStorage), Object.keys(sessionStorage)].flat()");
    assert_eq!(stored, json!([]), "a rehearsal leaves nothing behind");
}

#[test]
fn a_file_ends_the_rehearsal() {
    let page = Journey::start("/");
    page.wait_for("frames.length === 1");
    page.attach(&[&snapshot("virtual-py-gpt2-oom-t4.pickle.gz")]);
    page.wait_for_timeline();
    assert_eq!(page.value("frames.length"), 0);
    page.reload();
    page.wait_for_timeline();
}

#[test]
fn what_decodes_comes_after_the_page_and_before_a_file() {
    let page = Journey::start("/");
    for name in ["viewer.js", "viewer_bg.wasm", "worker.js", "engine.js", "engine_bg.wasm"] {
        page.wait_for(&format!("performance.getEntriesByType('resource').some(e => e.name.endsWith('/{name}'))"));
    }
}

#[test]
fn only_the_first_visit_of_a_recording_begins_with_its_stored_curve() {
    let page = Journey::start("/?sample");
    let begins = "performance.getEntriesByType('resource').some(e => e.name.endsWith('/home_bg.wasm'))";
    page.wait_for_timeline();
    assert_eq!(page.value(begins), true);
    page.wait_until_kept();
    page.reload();
    page.wait_for_timeline();
    assert_eq!(page.value(begins), false, "a later visit does not wait for the network");
}

#[test]
fn foreign_code_does_not_run() {
    let page = Journey::start("/");
    let script = "
        window.foreign = [];
        const script = document.createElement('script');
        script.textContent = 'window.foreign.push(\"inline script\")';
        document.body.append(script);
        document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.foreign.push(1)\">');
        return new Promise(resolve => setTimeout(() => resolve(window.foreign.length), 200));";
    assert_eq!(page.run(script, Vec::new()), 0);
    let refused = page.console();
    assert!(refused.iter().any(|line| line.contains("Content Security Policy")), "{refused:#?}");
}

#[test]
fn keys_are_listed_and_the_list_closes() {
    let page = Journey::start("/");
    page.press("?");
    let dialog = page.dialog("Keyboard shortcuts");
    dialog.wait();
    let keys = dialog.text();
    for part in ["Keyboard shortcuts", "Timeline", "Jump to the peak", "Open snapshots"] {
        assert!(keys.contains(part), "{part} in {keys}");
    }
    page.press("\u{e00c}"); // Esc
    dialog.wait_gone();
}

#[test]
fn the_colours_are_chosen_and_remembered() {
    let page = Journey::start("/?theme=dark");
    let background = |page: &Journey| page.value("getComputedStyle(document.body).backgroundColor");
    let dark = background(&page);
    page.visit("/?theme=light");
    page.wait_for_page();
    assert_ne!(background(&page), dark);
}

/// Checks that nothing overflows to the right, on a phone or a small laptop, and that the plot is visible.
#[track_caller]
fn check_fits(width: u32, height: u32, has_plot_in_sight: bool) {
    let page = Journey::start_sized("/?sample", width, height);
    page.wait_for_timeline();
    page.screenshot(&format!("sample-{width}x{height}"));
    let overhang = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(overhang, 0, "{width} × {height}");
    let bottom = page.plot().value("it.getBoundingClientRect().bottom <= innerHeight");
    assert!(bottom == true || !has_plot_in_sight, "{width} × {height}: the plot's end is out of sight");
}

#[test]
fn a_small_laptop_shows_the_whole_plot() {
    check_fits(1280, 720, true);
}

#[test]
fn a_phone_has_no_sideways_scrolling() {
    check_fits(390, 844, false);
    let page = Journey::start_sized("/?sample", 375, 740);
    page.wait_for_timeline();
    for tab in ["Flame graph", "Allocations", "Segments", "What if", "Compare"] {
        page.tab(tab).click();
        page.role("tabpanel", tab).wait();
        page.wait_for("document.documentElement.scrollWidth === document.documentElement.clientWidth");
    }
}
