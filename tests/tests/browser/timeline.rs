//! Tests wheel, pointer, keys and buttons on the plot.

use testkit::browser::Spot;

use crate::journey::{Journey, MIDDLE};

const LATE_START: &str = "torch2.5-train-late-start-27k.pickle.gz";
const NO_TIMES: &str = "torch2.1-no-trace.pickle.gz";

/// Spot low in the plot, where memory is live all the time.
const LOW: Spot = Spot(0.5, 0.8);

fn timeline() -> Journey {
    Journey::with("torch2.15-gpt2-3steps-py311.pickle.gz")
}

#[test]
fn the_wheel_zooms_about_the_pointer_and_a_drag_pans() {
    let page = timeline();
    let whole = page.view();
    page.plot().wheel(MIDDLE, -300);
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.9));
    let zoomed = page.view();
    assert!(zoomed.x0 > whole.x0 && zoomed.x1 < whole.x1, "{whole:?} → {zoomed:?}");
    assert_eq!((zoomed.y0, zoomed.y1), (whole.y0, whole.y1), "the bytes stay");

    page.plot().wheel(MIDDLE, 3000);
    page.wait_for_view(&format!("x1 - x0 >= {}", whole.width()));
    assert_eq!(page.view(), whole, "the whole trace is the end of zooming out");
    page.plot().wheel(MIDDLE, -600);
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.7));
    let before = page.view();
    page.plot().drag(Spot(0.7, 0.5), Spot(0.4, 0.5));
    page.wait_for_view(&format!("x0 > {}", before.x0));
    let after = page.view();
    assert!((after.width() - before.width()).abs() < before.width() * 1e-6, "{before:?} → {after:?}");
    assert!(after.x0 - before.x0 > before.width() * 0.2, "{before:?} → {after:?}");
}

#[test]
fn pointing_shows_an_allocation_and_a_click_pins_it_wherever_the_page_moves_the_plot() {
    let page = timeline();
    page.plot().hover(LOW);
    page.plot().find("[data-tooltip]").wait_text("iB");
    page.plot().drag(LOW, LOW);
    page.pinned().find("[data-stack]").wait();
    let details = page.pinned().text();
    for part in ["MiB", "Lifetime", "Address", "Stream", "Stack"] {
        assert!(details.contains(part), "{part} in {details}");
    }
    page.screenshot("pinned");

    page.press("\u{e00c}"); // Esc
    page.pinned().wait_gone();
    page.run(
        "const plot = document.querySelector('[data-timeline]');
         const { left, top, width, height } = plot.getBoundingClientRect();
         const at = { clientX: left + width / 2, clientY: top + 0.8 * height, pointerId: 1, bubbles: true };
         plot.dispatchEvent(new PointerEvent('pointerdown', at));
         document.querySelector('[data-headline]').style.paddingTop = '40px';
         for (const name of ['pointermove', 'pointerup']) plot.dispatchEvent(new PointerEvent(name, at));",
        Vec::new(),
    );
    page.pinned().find("[data-stack]").wait();
}

#[test]
fn a_button_leads_to_the_peak_and_keys_move_the_view() {
    let page = timeline();
    let whole = page.view();
    page.button("Jump to peak").click();
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    let peak = page.view();
    assert!(peak.x0 >= whole.x0 && peak.x1 <= whole.x1, "{whole:?} → {peak:?}");

    page.button("Reset view").click();
    page.wait_for_view(&format!("x1 - x0 >= {}", whole.width()));
    assert_eq!(page.view(), whole);
    page.press("=");
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width()));
    let zoomed = page.view();
    page.press("d");
    page.wait_for_view(&format!("x0 > {}", zoomed.x0));
    page.press("0");
    page.wait_for_view(&format!("x1 - x0 >= {}", whole.width()));
    page.press("t");
    page.plot().wait_until("it.dataset.axis === 'time'");
    page.press("e");
    page.plot().wait_until("it.dataset.axis === 'events'");
}

#[test]
fn time_is_not_offered_without_times() {
    let page = Journey::with(NO_TIMES);
    assert_eq!(page.toolbar("Timeline").button("Time").value("it.disabled"), true);
}

#[test]
fn memory_from_before_the_trace_is_there_and_said() {
    let page = Journey::with(LATE_START);
    let text = page.find("main").text();
    assert!(text.contains("before the trace") || text.contains("Before the trace"), "{text}");
    assert!(page.view().height() > 0.0);
}

#[test]
fn a_view_that_nobody_changes_is_not_drawn_again() {
    let page = timeline();
    // Findings that arrive later cause a redraw.
    page.lead().wait();
    page.wait_until_files_are_kept();
    let script = "
        let frames = 0;
        const ask = window.requestAnimationFrame;
        window.requestAnimationFrame = draw => { frames += 1; return ask.call(window, draw); };
        document.querySelector(arguments[0])?.click();
        return new Promise(resolve => setTimeout(() => {
            window.requestAnimationFrame = ask;
            resolve(frames);
        }, 500));";
    let frames_after_clicking = |selector: &str| page.run(script, vec![selector.into()]).as_u64().unwrap();
    assert_eq!(frames_after_clicking("#nothing"), 0);
    assert!(frames_after_clicking("[title^='Jump to peak']") > 0, "the count sees frames");
}
