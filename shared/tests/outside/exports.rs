//! Exports the snapshots of the fuzzer's corpora in every form.

use crate::support::exports;
use shared::import::import;
use std::fs;
use std::path::Path;

#[test]
fn whatever_can_be_imported_can_be_exported() {
    let mut exported = 0;
    for folder in ["fuzz/corpus/import", "fuzz/corpus/exports"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            println!("{}", path.display());
            if let Ok(trace) = import(&fs::read(path).unwrap()) {
                exports::export(&trace);
                exported += 1;
            }
        }
    }
    assert!(exported >= 15, "{exported} snapshots");
}
