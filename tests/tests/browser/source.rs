//! Tests source files below the timeline: the memory of their lines, and the lines of a folder.

use serde_json::json;
use testkit::browser::Locator;

use crate::journey::Journey;

/// Script that ran, as far as stacks name its lines: 4 and 9.
const SCRIPT: &str = "import torch\n\n\nmodel = GPT2LMHeadModel(config)\n\n\n\n\nloss = model(ids, labels=ids).loss\n\n\n\n\n\n\n\n\n\nprint(loss)\n";

fn source() -> Journey {
    let page = Journey::with("virtual-py-gpt2-oom-t4.pickle.gz");
    page.tab("Source").click();
    files(&page).wait();
    page
}

fn files(page: &Journey) -> Locator<'_> {
    page.role("navigation", "Source files")
}

/// Passes files to the input for folders, as browsers without a dialog for folders do.
fn choose_folder(page: &Journey, files: &[(&str, &str)]) {
    let script = "
        const [files] = arguments;
        const chosen = files.map(([path, text]) => {
            const file = new File([text], path.split('/').pop());
            return Object.defineProperty(file, 'webkitRelativePath', { value: path });
        });
        const input = document.querySelector('[data-input=source-folder]');
        Object.defineProperty(input, 'files', { value: chosen, configurable: true });
        input.dispatchEvent(new Event('change', { bubbles: true }));";
    page.run(script, vec![json!(files)]);
}

#[test]
fn without_a_folder_the_lines_of_the_stacks_are_listed() {
    let page = source();
    page.role("tabpanel", "Source").wait_text("13.1 GiB live after event 7,630");
    let list = files(&page);
    assert!(list.find("button").nth(0).text().contains("activations.py"), "{}", list.text());
    let line = page.find("[data-line='66']");
    for part in ["4.50 GiB", "15.8 GiB", "288×", "in forward"] {
        line.wait_text(part);
    }
    list.button("*oomt4.py*").click();
    page.find("[data-line='9']").wait_text("12.6 GiB");
    page.screenshot("source");
}

#[test]
fn a_folder_has_the_code_of_its_files() {
    let page = source();
    choose_folder(&page, &[("train/oomt4.py", SCRIPT), ("train/.git/oomt4.py", ""), ("train/notes.txt", "")]);
    page.role("tabpanel", "Source").wait_text("In train: 1 file of the stacks");
    let line = page.find("[data-line='9']");
    line.wait_text("loss = model(ids, labels=ids).loss");
    // The only file of the folder owns what its callees allocate.
    line.wait_text("12.6 GiB");
    page.button("Show 6 lines").click();
    page.find("[data-line='19']").wait_text("print(loss)");
    page.screenshot("source-folder");
}

#[test]
fn a_line_selects_its_allocations() {
    let page = source();
    files(&page).button("*loss_utils.py*").click();
    page.button("Allocations of line 42").click();
    page.role("tab", "Allocations").wait_until("it.ariaSelected === 'true'");
    page.find("input#dock-search").wait_until(r"it.value.endsWith('loss_utils\\.py:42$')");
    page.tab("Source").click();
    page.role("tabpanel", "Source").wait_text("1.53 GiB live after event 7,630");
}

#[test]
fn another_version_is_named() {
    let page = source();
    choose_folder(&page, &[("train/oomt4.py", "import torch\n")]);
    page.role("tabpanel", "Source").wait_text("may be another version than the one that ran: it ends before line 4");
}
