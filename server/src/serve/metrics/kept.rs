//! Holds the metrics of requests, of the store and of the worker.

use prometheus_client::registry::Registry;

use super::http::HttpMetrics;
use crate::jobs::worker::Context;
use crate::store::Store;

/// Prefix of the names of this server's own metrics.
pub(super) const PREFIX: &str = "snapscope";

/// Metrics that are updated while the process runs.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) http: HttpMetrics,
    pub(super) registry: Registry,
}

impl Metrics {
    /// Makes the metrics of requests and adds those of the store and the worker.
    pub(crate) fn new(store: &Store, worker: &Context) -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let http = HttpMetrics::new(&mut registry);
        store.metrics().register(&mut registry);
        worker.metrics().register(&mut registry);
        Self { http, registry }
    }
}
