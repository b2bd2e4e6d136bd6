//! The memory history of a run: each event of the allocator as it happens, and the snapshot that the events make.
//!
//! PyTorch's own history keeps half a kilobyte for each event and writes all of it at once. Here an event takes 48
//! bytes, most of which are in a file, and each different stack and text is kept once.
//!
//! PyTorch's allocator calls the recorder for each event and, for its stack, the C++ shim, which returns the number of
//! the place of the calling thread. The temporary file lies beside the snapshot.

mod ffi;
mod rows;
mod snapshot;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use shared::base::{StringId, StringTable};

use crate::Result;
use crate::shim::Place;
use rows::{Annotation, History, history};

/// Starts CUDA and the memory history of every device; `output` is the path of the snapshot.
///
/// # Errors
///
/// Returns an error if CUDA does not start.
pub fn start(output: &Path) -> Result<()> {
    let texts = StringTable::new();
    *history() = Some(History {
        devices: Vec::new(),
        texts,
        last_text: StringId::EMPTY,
        annotations: Vec::new(),
        output: output.to_owned(),
        is_exhaustion_written: false,
    });
    ffi::start(on_exhaustion)
}

/// Stages of a span in the snapshot's annotations.
pub const START: &str = "START";
pub const END: &str = "END";

/// Marks the beginning or the end of a span in the snapshot's annotations.
pub fn annotate(name: &str, stage: &'static str) {
    let (device, ticks) = (ffi::current_device(), ffi::ticks());
    if let Some(history) = &mut *history() {
        history.annotations.push(Annotation { name: name.to_owned(), stage, device, ticks });
    }
}

/// Writes the snapshot of all devices as a pickle.
pub fn write(file: &mut impl Write) -> io::Result<()> {
    let held = ffi::held().map_err(io::Error::other)?;
    let past = history().as_ref().map(History::past).transpose()?;
    past.map_or(Ok(()), |past| snapshot::write(&held, &past, file))
}

/// Returns where memory ran out last, with the path of the snapshot of that moment, if it could be written.
pub fn exhaustion() -> Option<(Place, Option<PathBuf>)> {
    let place = ffi::exhaustion()?;
    let history = history();
    let written = history.as_ref().filter(|history| history.is_exhaustion_written);
    Some((place, written.map(|history| exhaustion_path(&history.output))))
}

/// Removes the snapshot of a moment at which memory ran out, because the run went on.
pub fn discard_exhaustion() {
    if let Some(history) = &mut *history()
        && std::mem::take(&mut history.is_exhaustion_written)
    {
        let _ = fs::remove_file(exhaustion_path(&history.output));
    }
}

/// Writes the snapshot of the moment at which memory ran out, while everything is still alive.
extern "C" fn on_exhaustion() {
    let Some(output) = history().as_ref().map(|history| history.output.clone()) else { return };
    let path = exhaustion_path(&output);
    let written = File::create(&path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()
    });
    if written.is_err() {
        // The run then ends with the snapshot that is taken after it.
        let _ = fs::remove_file(&path);
    }
    if let Some(history) = &mut *history() {
        history.is_exhaustion_written = written.is_ok();
    }
}

fn exhaustion_path(output: &Path) -> PathBuf {
    let mut path = output.as_os_str().to_owned();
    path.push(".oom");
    path.into()
}
