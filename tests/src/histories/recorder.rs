//! Simulates a recorder that takes a fraction of a second and follows the name of its job.
//!
//! The job's keeper cannot tell it from the real one.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use tempfile::TempDir;

use super::plan::{CONTENTS, Recipe};
use crate::padded::padded;
use crate::server::root;

/// Bytes of the smallest snapshot, by which each further one is larger.
const CONTENT_BYTES: u32 = 20 << 10;

/// Bytes of the last snapshot, which is stored in parts.
const LARGE_BYTES: u32 = 9 << 20;

/// Parses the name `h-KIND-CONTENT-TENTHS-LANExNUMBER` and acts accordingly; ends if its keeper has died.
const SCRIPT: &str = r#"
name=$(printf '%s' "$job" | sed -n 's/.*"name": *"\(h-[a-z0-9-]*\)".*/\1/p' | head -n 1)
echo "$name" >> "$HOME/starts"
rest=${name#h-}; kind=${rest%%-*}; rest=${rest#*-}; content=${rest%%-*}; rest=${rest#*-}; tenths=${rest%%-*}
if [ "$kind" = real ]; then
  printf '%s' "$job" > "$output.job"
  exec "$HOME/snapscope-recorder" "$@" < "$output.job"
fi
echo '{"type":"started","device":"Fake","memory_bytes":100,"parameters":7,"steps":2}'
while [ "$tenths" -gt 0 ]; do
  sleep 0.1
  kill -0 "$SNAPSCOPE_KEEPER" 2>/dev/null || exit 1
  echo '{"type":"progress","step":0,"phase":"forward","live_bytes":10,"reserved_bytes":20}'
  tenths=$((tenths - 1))
done
if [ "$kind" = bad ]; then
  echo '{"type":"failed","message":"no kernel","step":0,"phase":"forward","module":""}'
  exit 3
fi
cp "$HOME/contents/$content" "$output" || exit 1
echo '{"type":"snapshot","steps":2,"partial":false}'
echo '{"type":"finished","steps":2,"peak_allocated_bytes":30,"peak_reserved_bytes":40,"oom":null}'
"#;

/// Folder of the recorder, with the snapshots that it writes.
#[derive(Debug)]
pub(super) struct Recorder {
    folder: TempDir,
    contents: Vec<Vec<u8>>,
}

impl Recorder {
    /// Creates a recorder that passes jobs of the kind `real` to another one.
    pub(super) fn new(real: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let small = (1..CONTENTS as u32).map(|n| padded(n * CONTENT_BYTES, n.into()));
        let contents: Vec<_> = small.chain([padded(LARGE_BYTES, 0)]).collect();
        fs::create_dir(folder.path().join("contents")).expect("room");
        for (number, content) in contents.iter().enumerate() {
            fs::write(folder.path().join(format!("contents/{number}")), unpacked(content)).expect("room");
        }
        fs::write(folder.path().join("script"), SCRIPT).expect("room");
        std::os::unix::fs::symlink(real, folder.path().join("snapscope-recorder")).expect("room");
        Self { folder, contents }
    }

    /// Returns the environment variables that make processes use this recorder.
    pub(super) fn variables(&self) -> [(String, OsString); 2] {
        let program = root().join("tests/data/recorder/play");
        let variable = |name: &str, path: PathBuf| (name.to_owned(), path.into());
        [variable("HOME", self.folder.path().to_owned()), variable("SNAPSCOPE_RECORDER", program)]
    }

    /// Returns a snapshot that it writes, compressed.
    pub(super) fn content(&self, number: usize) -> &[u8] {
        &self.contents[number]
    }

    /// Returns the number of times that the recording of a job was started.
    pub(super) fn starts(&self, recipe: &Recipe) -> usize {
        let starts = fs::read_to_string(self.folder.path().join("starts")).unwrap_or_default();
        starts.lines().filter(|line| *line == recipe.name()).count()
    }
}

/// Decompresses gzip bytes; other bytes give an empty vector.
pub(super) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A truncated result differs from what is expected, so errors need no handling.
    let _ = GzDecoder::new(packed).read_to_end(&mut bytes);
    bytes
}
