//! Saving the shown file in other forms.

use serde_json::json;

use crate::journey::Journey;

const ANNOTATED: &str = "torch2.10-train-annotated.pickle.gz";

/// Keeps what would be saved: a browser under test has nobody who picks a folder.
const CATCH: &str = "
    window.saved = [];
    const made = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = blob => (made.push(blob), create.call(URL, blob));
    HTMLAnchorElement.prototype.click = function () {
        window.saved.push({ name: this.download, blob: made.at(-1) });
    };
    return true;";

/// Presses the button of a file and returns its length, its media type and its first letters.
fn save(page: &Journey, name: &str) -> (f64, String, String) {
    page.click(&format!("[data-export='{name}']"));
    let size = page.wait_for(&format!("window.saved.find(file => file.name === '{name}')?.blob.size"));
    let read = "
        const blob = window.saved.find(file => file.name === arguments[0]).blob;
        return blob.text().then(text => [blob.type, text.slice(0, 400)]);";
    let [media_type, start] =
        [0_usize, 1].map(|part| page.run(read, vec![json!(name)])[part].as_str().expect("a text").to_owned());
    (size.as_f64().expect("a size"), media_type, start)
}

#[test]
fn the_shown_file_is_saved_in_other_forms() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    page.click("[aria-label=Export]");
    page.wait_for("document.querySelector('dialog.export')?.open");
    page.screenshot("export");
    let stem = "torch2.10-train-annotated";
    for (ending, media_type, start) in [
        ("-report.html", "text/html;charset=utf-8", "<!doctype html>"),
        ("-timeline.svg", "image/svg+xml", "<svg xmlns="),
        ("-timeline.png", "image/png", ""),
        ("-stacks.csv", "text/csv;charset=utf-8", "device,event,stack,bytes,count,initial_bytes,title,frames\r\n"),
        (".speedscope.json", "application/json", "{\"$schema\":\"https://www.speedscope.app/"),
        (".perfetto.json", "application/json", "{\"displayTimeUnit\":\"ms\""),
        (".pickle.gz", "application/gzip", ""),
    ] {
        let (size, of, text) = save(&page, &format!("{stem}{ending}"));
        assert!(size > 1000.0 && text.starts_with(start), "{ending}: {size} bytes, {text}");
        assert_eq!(of, media_type, "{ending}");
    }
    page.check_console();
}

#[test]
fn drawings_below_the_timeline_are_saved() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    for (tab, drawing, ending) in
        [("#dock-flame", ".flame canvas", "-flame-graph.png"), ("#dock-segments", ".segments-canvas", "-segments.png")]
    {
        page.click(tab);
        page.wait_for(&format!("document.querySelector('{drawing}')?.width > 400"));
        let (size, of, _) = save(&page, &format!("torch2.10-train-annotated{ending}"));
        assert!(size > 1000.0, "{ending}: {size} bytes");
        assert_eq!(of, "image/png");
    }
    page.check_console();
}

#[test]
fn a_file_that_names_nobody_has_another_name() {
    let page = Journey::with(ANNOTATED);
    page.run(CATCH, Vec::new());
    page.click("[aria-label=Export]");
    page.click("dialog [data-clean]");
    let (_, _, text) = save(&page, "snapshot-report.html");
    assert!(text.contains("<title>Snapshot – GPU memory report</title>"), "{text}");
    page.check_console();
}
