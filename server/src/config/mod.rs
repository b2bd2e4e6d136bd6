//! What a person typed, and what it means: nothing else reads the environment.
//!
//! Settings come from flags, from variables `SNAPSCOPE_…`, and from a file, in this order; what nobody says has a
//! default. They are taken as typed first ([`SettingsArgs`]), then checked and resolved ([`ServeConfig`]).

mod others;
mod recorder;
mod resolve;
mod settings;
mod tokens;

pub use recorder::RecorderConfig;
pub use resolve::{DatabaseAddress, LogFormat, ServeConfig, ShareLimits, WorkerConfig};
pub use settings::SettingsArgs;

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The folder that this program lies in.
fn program_folder(hint: &str) -> Result<PathBuf, Failure> {
    let program = program().map_err(|failure| Failure::new(failure.message, hint))?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}

/// This program.
fn program() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::new(format!("this program cannot find itself: {error}"), "start it by its full path"))
}
