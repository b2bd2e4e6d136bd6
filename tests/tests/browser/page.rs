//! The page itself: it loads, obeys its security policy, and fits its window.

use crate::journey::Journey;

#[test]
fn the_empty_page_says_what_it_is() {
    let page = Journey::start("/");
    let text = page.text("main");
    for part in ["Open snapshot", "Try the sample", "_record_memory_history", "nothing leaves this machine"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(page.value("document.querySelectorAll('input[type=file]').length"), 1);
    assert_eq!(page.value("document.querySelector('input[type=file]').multiple"), true);
    page.check_console();
}

#[test]
fn the_sample_opens_by_its_address() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    assert!(page.text(".figures").contains("GiB"), "{}", page.text(".figures"));
    page.screenshot("sample");
    page.check_console();
}

#[test]
fn the_module_is_loaded_once_for_page_and_worker() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    let loaded = "performance.getEntriesByType('resource').filter(e => e.name.endsWith('.wasm')).length";
    assert_eq!(page.value(loaded), 1);
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
    page.wait_for("document.querySelector('dialog')?.open");
    let keys = page.text("dialog");
    for part in ["Keys", "Timeline", "Jump to the peak", "Open snapshots"] {
        assert!(keys.contains(part), "{part} in {keys}");
    }
    page.press("\u{e00c}"); // Esc
    page.wait_for("document.querySelector('dialog') === null");
    page.check_console();
}

#[test]
fn the_colours_are_chosen_and_remembered() {
    let page = Journey::start("/?theme=dark");
    let background = |page: &Journey| page.value("getComputedStyle(document.body).backgroundColor");
    let dark = background(&page);
    page.visit("/?theme=light");
    page.wait_for("document.querySelector('header') !== null");
    assert_ne!(background(&page), dark);
}

/// Nothing may stick out at the right, on a phone or on a small laptop, and the plot must be in sight.
#[track_caller]
fn check_fits(width: u32, height: u32, has_plot_in_sight: bool) {
    let page = Journey::start_sized("/?sample", width, height);
    page.wait_for_timeline();
    page.screenshot(&format!("sample-{width}x{height}"));
    let overhang = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(overhang, 0, "{width} × {height}");
    let bottom = page.value("document.querySelector('[data-timeline]').getBoundingClientRect().bottom <= innerHeight");
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
    for tab in ["dock-flame", "dock-allocations", "dock-segments", "dock-what-if", "dock-compare"] {
        page.click(&format!("#{tab}"));
        page.wait_for(&format!("document.querySelector('#dock-body')?.getAttribute('aria-labelledby') === '{tab}'"));
        page.wait_for("document.documentElement.scrollWidth === document.documentElement.clientWidth");
    }
}
