//! Tests what the page says at first sight: the sentence about a device, all devices, labels of stacks, and the tour.

use crate::journey::{Journey, snapshot};

const DATA_PARALLEL: &str = "virtual-py-dataparallel4.pickle.gz";
const OUT_OF_MEMORY: &str = "virtual-py-gpt2-oom-t4.pickle.gz";
const RANK: &str = "virtual-py-fsdp2-gpt2-rank0of8.pickle.gz";

const ESC: &str = "\u{e00c}";

#[test]
fn a_sentence_says_what_ran_and_what_went_wrong() {
    let page = Journey::with(OUT_OF_MEMORY);
    page.find("[data-headline]").wait_text("Ran out of memory, tried to allocate 1.53\u{a0}GiB");
    let text = page.find("[data-headline]").text();
    assert!(text.contains("Training in oomt4.py, 2 steps on GPU 0"), "{text}");
}

#[test]
fn all_devices_are_under_each_other() {
    let page = Journey::with(DATA_PARALLEL);
    let all = page.region("All devices");
    all.wait_until("it.dataset.overview === '4'");
    all.tab("GPU 2*").click();
    page.wait_for_device(2);
    page.press("\u{e015}"); // arrow down
    page.wait_for_device(3);
    page.screenshot("overview");
    all.button("Fold").click();
    all.wait_gone();
    page.reload();
    page.button("Show all devices").click();
    all.wait();
}

#[test]
fn files_of_ranks_have_rows() {
    let page = Journey::start("/");
    let folder = tempfile::tempdir().unwrap();
    let files = ["run_rank0.pickle.gz", "run_rank1.pickle.gz"].map(|name| folder.path().join(name));
    for file in &files {
        std::fs::copy(snapshot(RANK), file).unwrap();
    }
    page.attach(&[&files[0], &files[1]]);
    page.wait_for_files(2);
    page.wait_for_timeline();
    page.region("All devices").tab("Rank 0*").click();
    page.shown_file().wait_until("it.innerText.includes('rank0')");
    page.region("All devices").tab("Rank 1*").click();
    page.shown_file().wait_until("it.innerText.includes('rank1')");
}

#[test]
fn stacks_are_named_by_own_code_that_can_be_chosen() {
    let page = Journey::with(OUT_OF_MEMORY);
    page.tab("At peak").click();
    let rows = page.role("tabpanel", "At peak").find("li [aria-expanded]");
    rows.nth(0).wait_text("oomt4.py:9");
    let names = rows.value_of_all("all.map(row => row.innerText.split('GiB')[0]).length");
    let different = rows.value_of_all("new Set(all.map(row => row.querySelector('span').title)).size");
    assert_eq!(names, different, "no two labels are equal");
    page.combobox("Own code").choose("paths that contain");
    let paths = page.textbox("Paths of own code");
    paths.focus();
    page.press("transformers/");
    page.press("\u{e007}"); // Enter
    page.wait_for_address("own=transformers");
    rows.nth(0).wait_text("activations.py:66");
    page.reload();
    page.wait_for_timeline();
    rows.nth(0).wait_text("activations.py:66");
}

#[test]
fn the_tour_is_shown_once() {
    let page = Journey::start("/?sample&tour");
    let tour = page.dialog("Tour");
    tour.wait_text("1 of 4");
    page.screenshot("tour");
    for place in ["2 of 4", "3 of 4", "4 of 4"] {
        tour.button("Next").click();
        tour.wait_text(place);
    }
    // What the second step speaks of was selected.
    page.wait_for_address(";kind=");
    tour.button("Done").click();
    tour.wait_gone();
    page.visit("/?sample&tour");
    page.lead().wait();
    assert!(!tour.is_there());
}

#[test]
fn the_tour_can_be_left() {
    let page = Journey::start("/?sample&tour");
    let tour = page.dialog("Tour");
    tour.wait_text("1 of 4");
    page.press(ESC);
    tour.wait_gone();
}

#[test]
fn the_empty_page_has_recipes() {
    let page = Journey::start("/");
    let recipe = page.region("Record a snapshot");
    assert!(recipe.text().contains("snapscope record -- python train.py"), "{}", recipe.text());
    recipe.tab("A few steps").click();
    recipe.wait_text("max_entries");
    recipe.tab("On out of memory").click();
    recipe.wait_text("_cuda_attach_out_of_memory_observer");
}
