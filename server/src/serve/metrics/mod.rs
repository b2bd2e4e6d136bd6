//! Serves `/metrics` for Prometheus.
//!
//! Counters belong to this process. Figures of the queue come from the database, so that any server reports them for
//! all workers.

mod http;
mod now;
mod process;

pub(crate) use http::Metrics;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::Data;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;

use crate::serve::state::State;
use http::PREFIX;

/// Content type of OpenMetrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns all current metrics, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operations", security((), ("metrics_token" = [])),
    responses((
        status = 200, description = "OpenMetrics", body = String,
        content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    ))
)]
pub(crate) async fn metrics(state: Data<State>) -> HttpResponse {
    let mut now = Registry::with_prefix(PREFIX);
    now::register(&mut now, &state).await;
    let mut process = Registry::default();
    process::register(&mut process);
    let mut text = String::new();
    for registry in [&state.metrics.registry, &now, &process] {
        encode_registry(&mut text, registry).expect("a text takes any");
    }
    encode_eof(&mut text).expect("a text takes any");
    HttpResponse::Ok().insert_header((CONTENT_TYPE, OPEN_METRICS)).insert_header((CACHE_CONTROL, "no-store")).body(text)
}
