//! What the server writes to standard error.

use std::io::IsTerminal;

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use tracing::{Level, Span};
use tracing_actix_web::{DefaultRootSpanBuilder, RootSpanBuilder, root_span};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;

use crate::config::LogFormat;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts the log at a level; libraries speak up from warnings on, unless everything is asked for.
pub fn start(level: Level, format: LogFormat) {
    let libraries = if level > Level::INFO { level } else { level.min(Level::WARN) };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_span_events(FmtSpan::CLOSE);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let filter = Targets::new().with_default(libraries).with_target("server", level);
    // It fails where a log is running already, which then goes on.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
}

/// A span for each request, closed with its status and its time: too much to read unless something is looked for.
pub(super) struct RequestSpan;

impl RootSpanBuilder for RequestSpan {
    fn on_request_start(request: &ServiceRequest) -> Span {
        root_span!(level = Level::DEBUG, request)
    }

    fn on_request_end<B: MessageBody>(span: Span, outcome: &Result<ServiceResponse<B>, Error>) {
        DefaultRootSpanBuilder::on_request_end(span, outcome);
    }
}
