//! Loads the snapshots of `tests/data/snapshots`.

use flate2::read::GzDecoder;
use shared::import::Importer;
use shared::trace::Trace;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Sample {
    pub name: String,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Sample {
    /// Returns the bytes of the snapshot, decompressed if the file is a gzip file.
    pub fn unpacked(&self) -> Vec<u8> {
        if !self.name.ends_with(".gz") {
            return self.bytes.clone();
        }
        let mut bytes = Vec::new();
        GzDecoder::new(&self.bytes[..]).read_to_end(&mut bytes).expect("a stored file unpacks");
        bytes
    }

    /// Decodes the snapshot and checks the trace.
    #[track_caller]
    pub fn trace(&self) -> Trace {
        decode(&self.name, &self.bytes, self.bytes.len())
    }
}

/// Returns all stored snapshots, sorted by name.
pub fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/snapshots");
    let entries = std::fs::read_dir(&folder).expect("the folder of snapshots is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension != "md"));
    paths.sort();
    assert!(!paths.is_empty(), "no snapshot in {}", folder.display());
    let sample = |path: PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        Sample { name, bytes: std::fs::read(&path).expect("a snapshot can be read"), path }
    };
    paths.into_iter().map(sample).collect()
}

/// Decodes a snapshot in chunks of `chunk_bytes` and checks the trace.
#[track_caller]
pub fn decode(name: &str, bytes: &[u8], chunk_bytes: usize) -> Trace {
    let mut importer = Importer::new();
    for chunk in bytes.chunks(chunk_bytes) {
        importer.push(chunk).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let trace = importer.finish().unwrap_or_else(|error| panic!("{name}: {error}"));
    trace.check();
    trace
}
