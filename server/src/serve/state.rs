//! Holds the state that all requests share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::{HttpMessage as _, HttpRequest};
use shared::api::GalleryRow;

use crate::config::ServeConfig;
use crate::database::{Database, Result};
use crate::jobs::worker::Context;
use crate::serve::feeds::Feeds;
use crate::serve::guard::Guard;
use crate::serve::kept::Kept;
use crate::serve::metrics::Metrics;
use crate::serve::presence::{Devices, Presence};
use crate::serve::preview::Previews;
use crate::serve::route::Client;
use crate::serve::seats::Seats;
use crate::shares::{Digester, Room, free_bytes};
use crate::store::Store;

/// Time between two trial objects for health checks, each of which costs a write.
const BETWEEN_TRIALS: Duration = Duration::from_secs(30);

/// With less on the disk of the data folder, no upload has room.
const LEAST_FREE_BYTES: u64 = 1 << 20;

/// State that all requests of the process share.
#[derive(Debug)]
pub struct State {
    pub(crate) config: ServeConfig,
    pub(crate) database: Database,
    pub(crate) store: Store,
    /// Worker of this process, for its metrics and its scratch folder.
    pub(crate) worker: Arc<Context>,
    /// Reads uploads in separate processes.
    pub(crate) digester: Digester,
    /// Reservations of the uploads in progress.
    pub(crate) room: Room,
    /// Example configs.
    pub(crate) gallery: Vec<GalleryRow>,
    /// Tracks which workers are alive.
    presence: Presence,
    /// Time of the last trial object that the store has taken.
    written: tokio::sync::Mutex<Option<Instant>>,
    pub(super) guard: Guard,
    pub(super) metrics: Metrics,
    /// Draws and caches the preview pictures of links.
    pub(super) previews: Previews,
    /// Distributes the events of watched jobs.
    pub(super) feeds: Feeds,
    /// Counts the open event streams.
    pub(super) streams: Seats,
    /// Counts the findings that are being computed.
    pub(super) diagnosing: Seats,
    /// The latest findings, by their tags.
    pub(super) findings: Kept,
}

impl State {
    pub fn new(
        config: ServeConfig,
        database: Database,
        store: Store,
        worker: Arc<Context>,
        gallery: Vec<GalleryRow>,
        installation: &str,
    ) -> Self {
        Self {
            written: tokio::sync::Mutex::default(),
            guard: Guard::new(&config, installation),
            metrics: Metrics::new(&store, &worker),
            previews: Previews::default(),
            feeds: Feeds::default(),
            streams: Seats::of_streams(),
            diagnosing: Seats::of_findings(),
            findings: Kept::default(),
            digester: Digester::new(config.program.clone()),
            room: Room::default(),
            // Half a lease covers three signs of life, so single late ones do not matter.
            presence: Presence::new(config.worker.lease / 2),
            config,
            database,
            store,
            worker,
            gallery,
        }
    }

    /// Checks that uploads have room and that the store takes objects, by a trial object unless one has succeeded within
    /// [`BETWEEN_TRIALS`].
    pub(super) async fn store_is_writable(&self) -> std::result::Result<(), String> {
        if free_bytes(self.worker.scratch()) < LEAST_FREE_BYTES {
            return Err("the disk of the data folder is full".to_owned());
        }
        let mut written = self.written.lock().await;
        if written.is_none_or(|written| written.elapsed() > BETWEEN_TRIALS) {
            self.store.try_out().await.map_err(|error| error.to_string())?;
            *written = Some(Instant::now());
        }
        Ok(())
    }

    /// Returns the client of a request if clients are told apart, which they are not behind an untrusted proxy.
    pub(super) fn counted_client(&self, request: &HttpRequest) -> Option<IpAddr> {
        let client = request.extensions().get::<Client>().map(|client| client.0);
        client.filter(|_| self.config.submissions.is_some())
    }

    /// Returns the kinds of devices with living workers.
    pub(super) async fn devices(&self) -> Result<Devices> {
        Ok(self.presence.alive(self.database.workers().await?))
    }
}
