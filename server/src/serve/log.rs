//! What the server writes to standard error.

use std::io::IsTerminal;

use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::LogFormat;

/// Starts the log at a level; libraries speak up from warnings on, unless everything is asked for.
///
/// What they say of a request may have its address, and in that a link's token: `trace` is for a machine of one's own.
pub fn start(level: Level, format: LogFormat) {
    let libraries = if level == Level::TRACE { level } else { level.min(Level::WARN) };
    let lines =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let filter = Targets::new().with_default(libraries).with_target("server", level);
    // It fails where a log is running already, which then goes on.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
}
