//! Tests opening files: by the dialog, by a drop, several at once, and cancelled.

use std::fs;

use crate::journey::{Journey, snapshot};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";
const RESNET: &str = "virtual-py-resnet50-h100.pickle.gz";
const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";

#[test]
fn a_chosen_file_opens() {
    let page = Journey::with(GPT2);
    assert!(page.files().text().contains(GPT2));
    assert_eq!(page.value("document.title"), format!("{GPT2} – Snapscope"));
    page.screenshot("chosen-file");
}

#[test]
fn a_dropped_file_opens() {
    let page = Journey::start("/");
    page.drop_file(RESNET, &fs::read(snapshot(RESNET)).unwrap());
    page.wait_for_timeline();
    assert!(page.files().text().contains(RESNET));
}

#[test]
fn the_files_of_a_dropped_folder_open_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["rank10.pickle.gz", "rank2.pickle.gz"] {
        fs::copy(snapshot(GPT2), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("train.py"), "print()").unwrap();
    fs::write(folder.path().join("_below.py"), "").unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    let page = Journey::start("/");
    page.drop_paths(&[folder.path()]);
    page.wait_for_files(2);
    let names = page.files().text();
    assert!(names.find("rank2") < names.find("rank10") && !names.contains("train"), "{names}");
}

#[test]
fn several_files_open_side_by_side() {
    let page = Journey::start("/");
    page.attach(&[&snapshot(GPT2), &snapshot(RESNET)]);
    page.wait_for_files(2);
    let figures = |name: &str| {
        page.show_file(name);
        page.wait_for(&format!("document.title.startsWith('{name}')"));
        page.figures().wait();
        page.settle();
        page.figures().text()
    };
    assert_ne!(figures(GPT2), figures(RESNET));

    page.button(&format!("Close {GPT2}")).click();
    page.files().wait_count(1);
    assert!(page.files().text().contains(RESNET));
}

#[test]
fn another_device_shows_other_memory() {
    let page = Journey::with(DATA_PARALLEL);
    assert_eq!(page.tablist("Devices").tab("*").count(), 4);
    let first = page.figures().text();
    page.tablist("Devices").tab("GPU 1*").click();
    page.wait_for_device(1);
    page.figures().wait_until(&format!("it.innerText !== {first:?}"));
    page.settle();
    assert!(page.attribute("data-bands") > 0.0);
}

#[test]
fn a_file_without_a_trace_shows_its_final_state() {
    let page = Journey::with("torch2.1-no-trace.pickle.gz");
    let text = page.find("main").text();
    assert!(text.contains("No events were recorded"), "{text}");
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
    page.role("progressbar", "Progress").wait_until("it.value > 0");
    page.screenshot("loading");
    page.button("Cancel").click();
    page.files().wait_gone();
    assert!(page.find("main").text().contains("Open snapshot"));

    page.attach(&[&snapshot(GPT2)]);
    page.wait_for_timeline();
    assert!(page.plot().is_there());
}
