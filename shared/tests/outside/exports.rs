//! Exports the snapshots of the fuzzer's corpora in every form.

use crate::support::exports;
use crate::support::stored::files;
use shared::import::import;

#[test]
fn whatever_can_be_imported_can_be_exported() {
    let mut exported = 0;
    for (name, bytes) in ["fuzz/corpus/import", "fuzz/corpus/exports"].into_iter().flat_map(|folder| files(folder, 1)) {
        println!("{name}");
        if let Ok(trace) = import(&bytes) {
            exports::export(&trace);
            exported += 1;
        }
    }
    assert!(exported >= 15, "{exported} snapshots");
}
