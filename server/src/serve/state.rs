//! What every request may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use shared::api::GalleryRow;

use crate::config::ServeConfig;
use crate::database::{Database, Result};
use crate::serve::feeds::Feeds;
use crate::serve::guard::Guard;
use crate::serve::metrics::Metrics;
use crate::serve::presence::Presence;
use crate::serve::preview::Previews;
use crate::serve::streams::Streams;
use crate::shares::{Digester, Room};
use crate::store::Store;
use crate::worker::Context;

/// What every request may use: one for the whole process.
#[derive(Debug)]
pub struct State {
    /// What the server runs with.
    pub(crate) config: ServeConfig,
    /// Jobs, snapshots and links.
    pub(crate) database: Database,
    /// Snapshots themselves.
    pub(crate) store: Store,
    /// The worker of this process, for its figures.
    pub(crate) worker: Arc<Context>,
    /// Looks into uploads.
    pub(crate) digester: Digester,
    /// What uploads under way hold back.
    pub(crate) room: Room,
    /// Configs that are worth a look.
    pub(crate) gallery: Vec<GalleryRow>,
    /// Which workers are alive.
    presence: Presence,
    /// Who may ask, and how often.
    pub(super) guard: Guard,
    /// What is counted.
    pub(super) metrics: Metrics,
    /// Draws pictures of links.
    pub(super) previews: Previews,
    /// What is new in jobs that are watched.
    pub(super) feeds: Feeds,
    /// How many streams are open.
    pub(super) streams: Streams,
}

impl State {
    /// What every request may use.
    pub fn new(
        config: ServeConfig,
        database: Database,
        store: Store,
        worker: Arc<Context>,
        gallery: Vec<GalleryRow>,
    ) -> Self {
        Self {
            guard: Guard::new(&config),
            metrics: Metrics::new(&store, &worker),
            previews: Previews::default(),
            feeds: Feeds::default(),
            streams: Streams::default(),
            digester: Digester::new(config.program.clone()),
            room: Room::default(),
            // Three signs of life may be late.
            presence: Presence::new(config.worker.lease / 2),
            config,
            database,
            store,
            worker,
            gallery,
        }
    }

    /// The kinds of devices that some worker has: `virtual`, or real ones such as `cuda:0`.
    pub(super) async fn kinds(&self) -> Result<Vec<String>> {
        Ok(self.presence.kinds(self.database.workers().await?))
    }

    /// How many workers are alive, by the kind of device.
    pub(super) async fn workers(&self) -> Result<BTreeMap<String, u64>> {
        Ok(self.presence.counts(self.database.workers().await?))
    }
}
