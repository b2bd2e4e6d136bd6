//! Reads the metrics that all servers share at the time of a scrape: jobs, workers, snapshots and links.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::database::{Counts, Result};
use crate::serve::state::State;

type Gauges<const N: usize> = Family<[(&'static str, String); N], Gauge>;

/// Figures from the database.
struct Now {
    jobs: Vec<Counts>,
    oldest_wait_ms: u64,
    workers: BTreeMap<String, u64>,
    stored_bytes: u64,
    job_bytes: u64,
    shares: u64,
}

/// Adds the figures from the database, and whether it answers.
pub(super) async fn register(registry: &mut Registry, state: &State) {
    let now = Now::ask(state).await;
    gauge(registry, "database_up", "Whether the database responds", u64::from(now.is_ok()));
    match now {
        Ok(now) => now.register(registry),
        Err(error) => tracing::error!(%error, "the figures of jobs and links can't be read"),
    }
    let quota = gauge_of(state.config.shares.quota_bytes);
    registry.register_with_unit("store_quota", "Maximum size of stored snapshots and jobs", Unit::Bytes, quota);
    let help = "Maximum number of waiting jobs";
    gauge(registry, "queue_limit_jobs", help, state.config.queue);
    gauge(registry, "recorders", "Recorders running in this process", state.worker.running() as u64);
}

impl Now {
    async fn ask(state: &State) -> Result<Self> {
        let database = &state.database;
        Ok(Self {
            jobs: database.job_counts().await?,
            oldest_wait_ms: database.oldest_wait_ms().await?,
            workers: state.devices().await?.workers,
            stored_bytes: database.stored_bytes().await?,
            job_bytes: database.job_bytes().await?,
            shares: database.share_count().await?,
        })
    }

    fn register(self, registry: &mut Registry) {
        let jobs = Gauges::default();
        for Counts { kind, state, jobs: count } in self.jobs {
            jobs.get_or_create(&[("kind", kind), ("state", state)]).set(count);
        }
        registry.register("jobs", "Jobs by kind of device and state", jobs);
        let wait = Gauge::<f64, AtomicU64>::default();
        wait.set(self.oldest_wait_ms as f64 / 1e3);
        let help = "Time that the oldest waiting job has waited";
        registry.register_with_unit("queue_oldest_wait", help, Unit::Seconds, wait);
        let workers = Gauges::default();
        for (kind, count) in self.workers {
            workers.get_or_create(&[("kind", kind)]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        registry.register("workers", "Live workers by kind of device", workers);
        let stored = gauge_of(self.stored_bytes);
        registry.register_with_unit("store_snapshots", "Size of stored snapshots", Unit::Bytes, stored);
        let of_jobs = gauge_of(self.job_bytes);
        registry.register_with_unit("store_jobs", "Size of configs, logs and events of jobs", Unit::Bytes, of_jobs);
        gauge(registry, "shares", "Links that exist", self.shares);
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: u64) {
    registry.register(name, help, gauge_of(value));
}

fn gauge_of(value: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    gauge
}
