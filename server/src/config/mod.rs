//! Reads and resolves the settings; other modules do not read the environment.
//!
//! Settings come from flags, then from `SNAPSCOPE_…` variables, then from a file, and otherwise have a default.
//! [`SettingsArgs`] holds them as typed; [`ServeConfig`] holds them checked and complete.

mod checked;
mod companions;
mod database_address;
mod recorder;
mod resolve;
mod script;
mod settings;
mod terminal;
mod tokens;

pub(crate) use companions::built_pages;

pub use checked::{LogFormat, ServeConfig, ShareLimits, WorkerConfig};
pub use database_address::DatabaseAddress;
pub use recorder::RecorderConfig;
pub(crate) use script::ALLOCATOR;
pub use script::ScriptConfig;
pub use settings::SettingsArgs;
pub(crate) use terminal::Terminal;
pub use terminal::is_colored;

use std::env;
use std::path::PathBuf;

use crate::failure::Failure;

fn program() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::new(format!("this program cannot find itself: {error}"), "start it by its full path"))
}
