//! Writes messages of the virtual GPU, one line each, to a file or to standard error.

use std::env;
use std::fmt::{Arguments, Write as _};
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};

use job::messages::LINE;

/// File of the messages; `None` means standard error.
static FILE: OnceLock<Option<Mutex<File>>> = OnceLock::new();

/// Writes one line.
///
/// A message that cannot be written is lost, because a program must not fail when its log does.
pub(crate) fn line(text: Arguments<'_>) {
    let mut message = String::new();
    let _ = writeln!(message, "{LINE}{text}");
    let file = FILE.get_or_init(open);
    let _ = match file {
        Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(message.as_bytes()),
        None => io::stderr().write_all(message.as_bytes()),
    };
}

/// Opens the file that `SNAPSCOPE_VIRTUAL_GPU_LOG` names.
fn open() -> Option<Mutex<File>> {
    let path = env::var_os("SNAPSCOPE_VIRTUAL_GPU_LOG").filter(|path| !path.is_empty())?;
    File::options().append(true).create(true).open(path).ok().map(Mutex::new)
}
