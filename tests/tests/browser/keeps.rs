//! Tests that no work is lost by Back, Forward, a reload, or unreadable files, and that errors are shown first.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use shared::export;
use shared::pickle::Style;
use shared::trace::text;
use testkit::browser::{Locator, Spot};

use crate::journey::{Journey, snapshot};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";
const RESNET: &str = "virtual-py-resnet50-h100.pickle.gz";
const OUT_OF_MEMORY: &str = "virtual-py-gpt2-oom-t4.pickle.gz";

/// Script that counts the copies of files that the browser keeps.
const COPIES: &str = "(async () => {
    const top = await navigator.storage.getDirectory();
    const kept = await top.getDirectoryHandle('snapscope-kept').catch(() => null);
    let count = 0;
    for await (const tab of kept?.values() ?? []) {
        for await (const copy of tab.values()) { count += 1; }
    }
    return count;
})()";

fn go(page: &Journey, steps: i32) {
    page.run(&format!("history.go({steps})"), Vec::new());
}

#[track_caller]
fn wait_for_tab(page: &Journey, name: &str) {
    page.tablist("Details").tab(name).wait_until("it.ariaSelected === 'true'");
}

/// Waits for the page that is shown while no file is.
#[track_caller]
fn wait_for_start(page: &Journey) {
    page.button("Open snapshot").wait();
}

/// Returns the bar that asks for the files that are not kept.
fn awaited(page: &Journey) -> Locator<'_> {
    page.find("[data-awaited]")
}

fn notice<'a>(page: &'a Journey, code: &str) -> Locator<'a> {
    page.find(&format!("[data-notices] [data-code={code}]"))
}

/// Writes a file with this name to a new folder.
fn made(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    (folder, file)
}

/// Returns a snapshot of six GPUs: four used, the second of which ran out of memory, and two unused between them.
fn of_six_devices() -> Vec<u8> {
    let lines = "
        alloc a 4MiB t=10 @load<main
        segment s 8MiB
        block a 4MiB
        device 1
        alloc b 2MiB t=10 @load<main
        oom 64MiB free=1MiB t=20 @forward<main
        segment s 2MiB
        block b 2MiB
        device 2
        free_completed c 1MiB t=10 @load<main
        alloc c 1MiB t=20 @load<main
        segment s 2MiB
        block c 1MiB
        device 5
        alloc d 1MiB t=10 @load<main
        segment s 2MiB
        block d 1MiB";
    let mut bytes = Vec::new();
    export::pickle(&text::parse(lines).unwrap(), Style::Torch, |piece| bytes.extend_from_slice(piece));
    bytes
}

#[test]
fn back_undoes_steps_and_forward_does_them_again() {
    let page = Journey::with(GPT2);
    page.run("window.isSame = true", Vec::new());
    page.wait_for_address("tab=findings");
    page.tab("File").click();
    page.wait_for_address("tab=file");
    page.tab("Flame graph").click();
    page.wait_for_address("dock=flame");

    go(&page, -1);
    page.role("tabpanel", "Flame graph").wait_gone();
    wait_for_tab(&page, "File");
    go(&page, -1);
    wait_for_tab(&page, "Findings*");
    // Back to the empty page; the file stays open.
    go(&page, -1);
    wait_for_start(&page);
    assert_eq!(page.files().text(), GPT2);
    page.wait_for("location.hash === ''");
    go(&page, 1);
    page.plot().wait();
    wait_for_tab(&page, "Findings*");
    go(&page, 2);
    page.role("tabpanel", "Flame graph").wait();
    wait_for_tab(&page, "File");
    // Keys reach the page as before.
    page.press("?");
    page.dialog("Keyboard shortcuts").wait();
    assert_eq!(page.value("window.isSame"), true);
}

#[test]
fn a_turn_of_the_wheel_is_one_step_and_so_is_a_file() {
    let page = Journey::with(GPT2);
    page.wait_for_address("tab=findings");
    let whole = page.view();
    let before = page.value("history.length").as_i64().unwrap();
    page.plot().spin(Spot(0.4, 0.5), -240, 4);
    page.wait_for_address("x=");
    assert_eq!(page.value("history.length"), before + 1);
    let zoomed = page.view();
    page.attach(&[&snapshot(RESNET)]);
    page.wait_for_files(2);
    page.wait_for("!location.hash.includes('x=')");
    assert_eq!(page.shown_file().text(), RESNET);
    assert_eq!(page.value("history.length"), before + 2);

    go(&page, -1);
    page.shown_file().wait_until(&format!("it.innerText === '{GPT2}'"));
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", zoomed.x0, zoomed.x1));
    go(&page, -1);
    page.wait_for_view(&format!("x1 - x0 > {} - 1", whole.width()));
    assert_eq!(page.value("history.length"), before + 2);
    // Another tab and back again: each file has its own zoom.
    go(&page, 1);
    page.wait_for_view(&format!("x1 - x0 < {}", whole.width() * 0.9));
    page.settle();
    page.show_file(RESNET);
    page.wait_for("!location.hash.includes('x=')");
    page.show_file(GPT2);
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", zoomed.x0, zoomed.x1));
}

#[test]
fn a_reload_and_another_page_bring_local_files_back() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(GPT2), &snapshot(RESNET)]);
    page.wait_for_files(2);
    page.show_file(GPT2);
    page.wait_for(&format!("document.title.startsWith('{GPT2}')"));
    page.plot().wait();
    page.settle();
    page.plot().wheel(Spot(0.4, 0.5), -480);
    page.wait_for_address("x=");
    page.tab("File").click();
    page.wait_for_address("tab=file");
    page.find("[data-keeping]").wait_until("it.innerText === 'This file is kept.'");
    page.wait_until_files_are_kept();
    page.screenshot("kept");
    let before = page.view();

    let is_back = || {
        page.wait_for_files(2);
        page.wait_for_timeline();
        assert_eq!(page.shown_file().text(), GPT2);
        page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", before.x0, before.x1));
        wait_for_tab(&page, "File");
    };
    page.reload();
    is_back();
    page.visit("/jobs");
    page.wait_for("location.pathname === '/jobs'");
    page.wait_for_page();
    go(&page, -1);
    page.wait_for("location.pathname === '/'");
    is_back();
    // Steps from before the reload are still in the history.
    go(&page, -1);
    wait_for_tab(&page, "Findings*");

    for left in [1, 0] {
        page.button("Close *.pickle.gz").click();
        page.wait_for(&format!("{COPIES}.then(count => count === {left})"));
    }
    page.reload();
    wait_for_start(&page);
    assert_eq!(page.value("sessionStorage.getItem('snapscope-files')"), json!(null));
}

/// Opens a page whose browser cannot store files.
fn without_storage() -> Journey {
    let page = Journey::start("/");
    let source = "delete StorageManager.prototype.getDirectory";
    page.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }));
    page.visit("/?theme=light");
    page.wait_for_page();
    page
}

#[test]
fn a_file_that_is_not_kept_is_asked_for_with_its_view() {
    let page = without_storage();
    let is_asked = "!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    assert_eq!(page.value(is_asked), false);
    page.attach(&[&snapshot(GPT2)]);
    page.wait_for_timeline();
    page.tab("File").click();
    page.role("complementary", "Details").wait_text("keep files here");
    page.wait_for_address("tab=file");
    assert_eq!(page.value(is_asked), true);

    page.reload_at_once();
    awaited(&page).wait_text(&format!("{GPT2} was open here. Drop it again"));
    page.screenshot("awaited");
    assert_eq!(page.value(is_asked), false);
    page.attach(&[&snapshot(RESNET), &snapshot(GPT2)]);
    page.wait_for_files(2);
    wait_for_tab(&page, "File");
    assert!(!awaited(&page).is_there());
}

#[test]
fn copies_go_when_somebody_says_so_and_after_a_day() {
    let page = Journey::with(GPT2);
    page.wait_until_files_are_kept();
    assert_eq!(page.value(COPIES), 1);
    page.tab("File").click();
    let keep = page.checkbox("Keep open files*");
    keep.click();
    page.wait_for(&format!("{COPIES}.then(count => count === 0)"));
    page.find("[data-keeping]").wait_text("is not kept");
    keep.click();
    page.wait_for(&format!("{COPIES}.then(count => count === 1)"));
    page.wait_until_files_are_kept();

    let source = "const now = Date.now; Date.now = () => now() + 25 * 3600 * 1000";
    page.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }));
    page.reload();
    awaited(&page).wait();
    page.wait_for(&format!("{COPIES}.then(count => count === 0)"));
}

#[test]
fn an_unreadable_file_hides_no_good_one() {
    let page = Journey::start("/");
    let (_folder, broken) = made("notes.pickle", b"not a snapshot at all");
    page.attach(&[&snapshot(GPT2), &broken]);
    page.wait_for_files(1);
    page.find("[data-status=failed]").wait_count(1);
    page.wait_for_timeline();
    assert_eq!(page.shown_file().text(), GPT2);
    page.show_file("notes.pickle");
    page.find("[data-error]").wait();
    page.wait_for("location.hash === ''");
    // Back from the error leads to the previous view.
    go(&page, -1);
    page.plot().wait();
    // The unreadable file is not brought back.
    page.reload();
    page.wait_for_timeline();
    assert_eq!(page.files().text(), GPT2);
    assert!(!awaited(&page).is_there());
}

#[test]
fn of_several_files_the_one_with_the_error_is_shown() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(OUT_OF_MEMORY), &snapshot(GPT2)]);
    page.wait_for_files(2);
    page.shown_file().wait_text(OUT_OF_MEMORY);
    assert_eq!(page.files().button(&format!("{OUT_OF_MEMORY} out of memory")).count(), 1);
    assert_eq!(page.files().button("* out of memory").count(), 1);
}

#[test]
fn the_device_with_the_error_is_shown_and_unused_ones_are_folded() {
    let page = Journey::start("/");
    let (_folder, file) = made("six.pickle", &of_six_devices());
    page.attach(&[&file]);
    page.wait_for_timeline();
    let shown = || page.device_tab().text();
    let devices = page.tablist("Devices").tab("*");
    assert!(shown().contains("GPU 1") && shown().contains("peak live 2.00 MiB · out of memory"), "{}", shown());
    assert_eq!(devices.count(), 4);
    page.find("[data-headline]").wait_text("Ran out of memory");
    page.screenshot("six-devices");

    // A note is shown on the device that it concerns.
    page.press("]");
    page.wait_for_device(2);
    // Several notices are folded under one line.
    page.find("details[data-notices]").button("*").click();
    notice(&page, "recording-began-late").wait();
    // Keys skip the folded devices.
    page.press("]");
    page.wait_for_device(5);
    page.button("2 unused").click();
    devices.wait_count(6);
    page.button("Hide unused").wait();
}
