//! Counts the operations of the store and their outcomes.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};

use super::Result;

/// Counters of a store, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct StoreMetrics {
    operations: Family<[(&'static str, &'static str); 2], Counter>,
    bytes: Family<[(&'static str, &'static str); 1], Counter>,
}

impl StoreMetrics {
    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Operations of the store by outcome";
        registry.register("store_operations", help, self.operations.clone());
        let help = "Data written to and read from the store";
        registry.register_with_unit("store_transferred", help, Unit::Bytes, self.bytes.clone());
    }

    /// Counts an operation by its outcome and returns its result.
    pub(super) fn counted<T>(&self, operation: &'static str, result: Result<T>) -> Result<T> {
        let outcome = if result.is_ok() { "done" } else { "failed" };
        self.operations.get_or_create(&[("operation", operation), ("outcome", outcome)]).inc();
        result
    }

    pub(super) fn transferred(&self, direction: &'static str, bytes: u64) {
        self.bytes.get_or_create(&[("direction", direction)]).inc_by(bytes);
    }
}
