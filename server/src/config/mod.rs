//! Reads and resolves the settings; other modules do not read the environment.
//!
//! Settings come from flags, then from `SNAPSCOPE_…` variables, then from a file, and otherwise have a default.
//! [`SettingsArgs`] holds them as typed; [`ServeConfig`] holds them checked and complete.

mod checked;
mod database_address;
mod others;
mod recorder;
mod resolve;
mod script;
mod settings;
mod tokens;

pub use checked::{LogFormat, ServeConfig, ShareLimits, WorkerConfig};
pub use database_address::DatabaseAddress;
pub use recorder::RecorderConfig;
pub use script::ScriptConfig;
pub use settings::SettingsArgs;

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Returns the folder that contains this program.
fn program_folder(hint: &str) -> Result<PathBuf, Failure> {
    let program = program().map_err(|failure| Failure::new(failure.message, hint))?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}

/// Returns the path of this program.
fn program() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::new(format!("this program cannot find itself: {error}"), "start it by its full path"))
}
