//! Holds the metrics of requests, of the store and of the worker; counts requests and measures the time until their
//! responses begin.

use actix_web::http::{Method, StatusCode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::jobs::worker::Context;
use crate::store::Store;

/// Upper bounds in seconds, around the 50 ms that reads may take and up to the minute that an upload may take.
const SECONDS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 60.0];

type Labels<const N: usize> = [(&'static str, String); N];

/// Metrics of requests.
///
/// Labels are route templates and known methods, so that clients cannot create new ones.
#[derive(Debug)]
pub(crate) struct HttpMetrics {
    requests: Family<Labels<3>, Counter>,
    seconds: Family<Labels<2>, Histogram>,
}

impl HttpMetrics {
    /// Makes the metrics and adds them to a registry.
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics =
            Self { requests: Family::default(), seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)) };
        registry.register("http_requests", "Requests that received a response", metrics.requests.clone());
        let help = "Time until the response began";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, metrics.seconds.clone());
        metrics
    }

    /// Counts a request and records the time until its response began.
    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, seconds: f64) {
        let labels = [("method", known(method).to_owned()), ("route", route.to_owned())];
        self.seconds.get_or_create(&labels).observe(seconds);
        let [method, route] = labels;
        self.requests.get_or_create(&[method, route, ("status", status.as_str().to_owned())]).inc();
    }
}

/// Returns the name of a method for a label, or `other` for a method not listed here.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

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
