//! Sets up the log on standard error.

use std::io::IsTerminal;

use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::LogFormat;

/// Starts the log at a level; libraries log warnings and errors only, except at `trace`.
///
/// Messages of libraries may include the address of a request and thus the token of a link, so `trace` should be used
/// only on a private machine.
pub(crate) fn start_log(level: Level, format: LogFormat) {
    let libraries = if level == Level::TRACE { level } else { level.min(Level::WARN) };
    let lines =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let filter = Targets::new().with_default(libraries).with_target("server", level);
    // This fails if a log is already set up, which then continues.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
}
