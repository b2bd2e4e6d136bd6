//! Tests files that cannot be read: the page shows a sentence, a position and a hint, and stays usable.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::journey::{Journey, snapshot};

const GOOD: &str = "virtual-py-resnet50-h100.pickle.gz";

/// Drops bytes as a file and returns the text of the refusal.
#[track_caller]
fn refused(page: &Journey, name: &str, bytes: &[u8]) -> String {
    page.drop_file(name, bytes);
    page.find("[data-status=failed]:has([aria-current=page])").wait_text(name);
    page.find("[role=alert]").text()
}

/// Returns the first half of a valid file.
fn cut() -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(snapshot(GOOD)).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes.truncate(bytes.len() / 2);
    bytes
}

#[test]
fn cut_and_foreign_files_are_refused_and_a_cut_one_with_its_place() {
    let page = Journey::start("/");
    let text = refused(&page, "cut.pickle", &cut());
    for part in ["cut.pickle", "could not be read", "At byte ", "truncated"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    page.screenshot("broken-file");
    for (name, bytes) in [
        ("empty.pickle", &b""[..]),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("evil.pickle", b"cos\nsystem\n(S'echo'\ntR."),
        ("words.txt", b"not a snapshot at all"),
        ("number.pickle", b"\x80\x04K\x01."),
    ] {
        let text = refused(&page, name, bytes);
        assert!(text.lines().count() >= 3, "a sentence and a hint for {name}: {text}");
    }
}

#[test]
fn open_files_stay_usable_beside_a_refused_one() {
    let page = Journey::with(GOOD);
    let before = page.figures().text();
    refused(&page, "cut.pickle", &cut());

    page.show_file(GOOD);
    page.figures().wait();
    page.settle();
    assert_eq!(page.figures().text(), before);
    assert!(page.attribute("data-bands") > 0.0);

    page.button("Close cut.pickle").click();
    page.files().wait_count(1);
}
