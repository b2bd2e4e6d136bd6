//! Settings, read from the environment once.

use std::env;
use std::path::PathBuf;

/// The file that messages are appended to.
pub(crate) fn log_path() -> Option<PathBuf> {
    env::var_os("SNAPSCOPE_VIRTUAL_GPU_LOG").filter(|path| !path.is_empty()).map(PathBuf::from)
}
