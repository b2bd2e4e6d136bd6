//! Tests opening files: by the dialog, by a drop, several at once, and cancelled.

use std::fs;

use crate::journey::{Journey, PLOT, snapshot};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";
const RESNET: &str = "virtual-py-resnet50-h100.pickle.gz";
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

#[test]
fn a_chosen_file_opens() {
    let page = Journey::with(GPT2);
    assert!(page.text(".file-tab").contains(GPT2));
    assert_eq!(page.value("document.title"), format!("{GPT2} – Snapscope"));
    page.screenshot("chosen-file");
    page.check_console();
}

#[test]
fn a_dropped_file_opens() {
    let page = Journey::start("/");
    page.drop_file(RESNET, &fs::read(snapshot(RESNET)).unwrap());
    page.wait_for_timeline();
    assert!(page.text(".file-tab").contains(RESNET));
    page.check_console();
}

#[test]
fn several_files_open_side_by_side() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(GPT2), &snapshot(RESNET)]);
    page.wait_for("document.querySelectorAll('.file-tab.ready').length === 2");
    let figures = |name: &str| {
        page.click_text("button[@title]", name);
        page.wait_for(&format!("document.title.startsWith('{name}')"));
        page.wait_for("document.querySelector('.figures') !== null");
        page.settle();
        page.text(".figures")
    };
    assert_ne!(figures(GPT2), figures(RESNET));

    page.click(&format!("[aria-label='Close {GPT2}']"));
    page.wait_for("document.querySelectorAll('.file-tab').length === 1");
    assert!(page.text(".file-tab").contains(RESNET));
    page.check_console();
}

#[test]
fn another_device_shows_other_memory() {
    let page = Journey::with(DATA_PARALLEL);
    assert_eq!(page.value("document.querySelectorAll('.device-tab').length"), 4);
    let first = page.text(".figures");
    page.click("[data-device='1']");
    page.wait_for("document.querySelector('[data-device=\"1\"]').ariaSelected === 'true'");
    page.wait_for(&format!("document.querySelector('.figures')?.innerText !== {first:?}"));
    page.settle();
    assert!(page.attribute("data-bands") > 0.0);
    page.check_console();
}

#[test]
fn a_file_without_a_trace_shows_its_final_state() {
    let page = Journey::with("torch2.1-no-trace.pickle.gz");
    let text = page.text("main");
    assert!(text.contains("No events were recorded"), "{text}");
    page.check_console();
}

#[test]
fn reading_can_be_cancelled() {
    let page = Journey::start("/");
    // 256 MiB of `None` under a key that no snapshot has: valid so far, and slow to read.
    let script = "
        const head = new Uint8Array([0x80, 4, 0x7d, 0x8c, 4, 0x73, 0x6c, 0x6f, 0x77, 0x5d, 0x28]);
        const nothing = new Uint8Array(1 << 20).fill(0x4e);
        const file = new File([head, ...Array(256).fill(nothing)], 'slow.pickle');
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(file);
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));";
    page.run(script, Vec::new());
    page.wait_for("document.querySelector('progress')?.value > 0");
    page.screenshot("loading");
    page.click_text("button", "Cancel");
    page.wait_for("document.querySelector('.file-tab') === null");
    assert!(page.text("main").contains("Open snapshot"));

    page.attach(&[&snapshot(GPT2)]);
    page.wait_for_timeline();
    assert!(page.value(&format!("document.querySelector('{PLOT}') !== null")) == true);
    page.check_console();
}
