//! Opens a library of NVIDIA's that may not be whole.
//!
//! An installation that was interrupted leaves a part of a file. The loader maps it as if it were whole, and the process
//! dies by a bus error at the first access behind the file's end, so the end is compared with the headers before.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::ffi::{Handle, text};

/// Sizes of an ELF header and of the header of a segment, in bytes.
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;

/// Opens a library; its names are not those of the process.
///
/// # Errors
/// Returns the reason, for the end of a sentence.
pub(super) fn open(path: &Path) -> Result<Handle, String> {
    let file = |error: io::Error| format!("{}: {error}", path.display());
    if is_cut(&File::open(path).map_err(file)?).map_err(file)? {
        return Err(format!("{} is only the beginning of a library; install it again", path.display()));
    }
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the name is a C string; the library's initializers run as they do in any program that uses it.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() { Err(reason()) } else { Ok(library) }
}

/// Returns what the loader says about its last failure.
fn reason() -> String {
    // SAFETY: the loader returns null or a C string, which is read before the thread's next call.
    let message = unsafe { libc::dlerror() };
    if message.is_null() { "it cannot be loaded".to_owned() } else { text(message).to_owned() }
}

/// Returns true if the file ends before its headers or a segment does; the loader itself refuses what is no library.
fn is_cut(file: &File) -> io::Result<bool> {
    let end = file.metadata()?.len();
    let read = |at: u64, bytes: &mut [u8]| match file.read_exact_at(bytes, at) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    };
    let mut header = [0; HEADER_BYTES];
    if !read(0, &mut header)? {
        return Ok(true);
    }
    let (first, count) = (number(&header, 32), u16::from_le_bytes([header[56], header[57]]));
    let mut segments = vec![0; usize::from(count) * SEGMENT_BYTES];
    if !read(first, &mut segments)? {
        return Ok(true);
    }
    let ends = |segment: &[u8]| number(segment, 8).saturating_add(number(segment, 32));
    Ok(segments.chunks_exact(SEGMENT_BYTES).any(|segment| ends(segment) > end))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |number| u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_part_of_a_library_is_not_loaded() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let whole = fs::read("/proc/self/exe").expect("the test has a file");
        let path = folder.path().join("libpart.so");
        for length in [0, 63, 64, 3000, 100_000] {
            fs::write(&path, &whole[..length]).expect("it can be written");
            let reason = open(&path).expect_err("it is cut");
            assert!(reason.ends_with("is only the beginning of a library; install it again"), "{length}: {reason}");
        }
        assert!(!is_cut(&File::open("/proc/self/exe").expect("the test has a file")).expect("it can be read"));
        let reason = open(Path::new("/no/such/libcudnn_graph.so.9")).expect_err("there is no such file");
        assert!(reason.ends_with("No such file or directory (os error 2)"), "{reason}");
    }
}
