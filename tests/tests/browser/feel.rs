//! Tests the pages for accessibility: keyboard, screen reader, contrast and reduced motion.

use crate::journey::Journey;
use serde_json::{Value, json};
use std::path::Path;
use testkit::server::root;

/// Script that returns the accessibility rules that a page breaks, one sentence each.
const AUDIT: &str = include_str!("audit.js");

/// Script that sums the layout shifts that no input caused, as the browser reports them (CLS).
const SHIFT: &str = "
    return new Promise(resolve => {
        let sum = 0;
        new PerformanceObserver(list => list.getEntries().forEach(entry => sum += entry.hadRecentInput ? 0 : entry.value))
            .observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum), 500);
    });";

/// Script that focuses everything reachable by Tab; returns elements that are left out or show no focus.
const LOST: &str = "
    const isShown = element => element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter(element => isShown(element) && element.tabIndex >= 0 && !element.disabled);
    return all.filter(element => {
        element.focus({ focusVisible: true });
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const around = getComputedStyle(element.parentElement);
        const isSeen = style => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
        const isFramed = around.borderColor !== '' && element.parentElement.matches(':focus-within')
            && element.matches('input[type=search]');
        return document.activeElement !== element
            || !(isSeen({ outlineStyle, outlineWidth }) || isSeen(around) || isFramed);
    }).map(element => element.outerHTML.slice(0, 120));";

#[track_caller]
fn check_audit(page: &Journey, what: &str) {
    let problems = page.run(AUDIT, Vec::new());
    assert_eq!(problems, json!([]), "{what}");
}

#[track_caller]
fn check_focus(page: &Journey, what: &str) {
    let lost = page.run(LOST, Vec::new());
    assert_eq!(lost, json!([]), "{what}");
}

fn with_scheme(scheme: &str, check: impl Fn(&Journey)) {
    check(&Journey::start(&format!("/?theme={scheme}")));
}

/// Checks every view of the viewer, one after another.
#[track_caller]
fn check_viewer(scheme: &str) {
    with_scheme(scheme, |page| {
        check_audit(page, "the empty page");
        check_focus(page, "the empty page");
        page.attach(&[&Path::new(root()).join("static/sample.pickle.gz")]);
        page.wait_for_timeline();
        page.region("Findings").heading("*").wait();
        check_audit(page, "an open file");
        check_focus(page, "an open file");
        for tab in ["Flame graph", "Allocations", "Source", "Segments", "What if", "Compare"] {
            page.tab(tab).click();
            page.role("tabpanel", tab).wait();
            page.settle();
            check_audit(page, tab);
            check_focus(page, tab);
        }
        for tab in ["At *", "Allocation", "File", "Findings*"] {
            page.tablist("Details").tab(tab).click();
            page.settle();
            check_audit(page, tab);
        }
        for dialog in ["Keyboard shortcuts", "My links", "Export", "Share"] {
            page.role("banner", "*").button(dialog).click();
            page.dialog("*").wait();
            page.settle();
            check_audit(page, dialog);
            page.press("\u{e00c}"); // Esc
            page.dialog("*").wait_gone();
            let back = page.value("document.activeElement.getAttribute('aria-label')");
            assert_eq!(back, dialog, "the focus returns to what opened the dialog");
        }
    });
}

#[test]
fn every_view_can_be_used_without_a_mouse_or_sharp_eyes_in_light_and_dark() {
    check_viewer("light");
    check_viewer("dark");
}

#[test]
fn so_can_the_page_of_jobs() {
    for path in ["/jobs?theme=light", "/jobs?theme=dark", "/jobs?new"] {
        let page = Journey::start(path);
        page.may_write();
        page.find("main h1").wait();
        check_audit(&page, path);
        check_focus(&page, path);
    }
}

#[test]
fn a_zoom_is_undone_by_key_and_by_button() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    let back = page.toolbar("Timeline").button("Back");
    let whole = page.view();
    assert_eq!(back.value("it.disabled"), true);
    page.press("=");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.8));
    let zoomed = page.view();
    back.wait_until("!it.disabled");
    // Movements without a pause between them count as one step back.
    std::thread::sleep(std::time::Duration::from_millis(800));
    page.press("p");
    page.wait_for_view(&format!("x1 - x0 < {}", zoomed.width() * 0.8));
    page.press("\u{e003}"); // Backspace
    page.wait_for_view(&format!("x0 === {} && x1 === {}", zoomed.x0, zoomed.x1));
    back.click();
    page.wait_for_view(&format!("x0 === {} && x1 === {}", whole.x0, whole.x1));
    back.wait_until("it.disabled");
}

#[test]
fn nothing_shifts_while_a_file_loads_or_moves_for_whoever_asks_for_less_motion() {
    let page = Journey::start("/?sample");
    page.wait_for_timeline();
    page.region("Findings").heading("*").wait();
    let shift = page.run(SHIFT, Vec::new()).as_f64();
    assert!(shift.is_some_and(|shift| shift < 0.01), "the layout shifted by {shift:?}");
    let features = json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
    page.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    let moving = "document.getAnimations().filter(animation => animation.playState === 'running').length";
    assert_eq!(page.value(moving), Value::from(0));
    // The first frame that differs already shows the final view: an animation would take a quarter of a second.
    let script = "
        const plot = document.querySelector('[data-timeline]');
        const range = () => plot.getAttribute('data-x0') + ' ' + plot.getAttribute('data-x1');
        const frame = () => new Promise(requestAnimationFrame);
        const before = range();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true }));
        for (let left = 600; left && range() === before; left--) await frame();
        const early = range();
        await new Promise(resolve => setTimeout(resolve, 600));
        return [early, range()];";
    let ranges = page.run(&format!("return (async () => {{ {script} }})();"), Vec::new());
    assert_eq!(ranges[0], ranges[1]);
    assert_ne!(page.plot().attribute("data-x0"), "0", "the key moved the view");
}
