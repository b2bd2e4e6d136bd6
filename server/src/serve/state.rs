//! What every request may use.

use std::sync::Arc;

use shared::api::GalleryRow;

use crate::config::ServeConfig;
use crate::database::{Database, Result, now_ms};
use crate::serve::guard::Guard;
use crate::shares::Digester;
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
    /// Configs that are worth a look.
    pub(crate) gallery: Vec<GalleryRow>,
    /// Who may ask, and how often.
    pub(super) guard: Guard,
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
            digester: Digester::new(config.program.clone()),
            config,
            database,
            store,
            worker,
            gallery,
        }
    }

    /// The kinds of devices that some worker has: `virtual`, or real ones such as `cuda:0`.
    pub(super) async fn kinds(&self) -> Result<Vec<String>> {
        // Three signs of life may be late.
        let silence = self.config.worker.lease / 2;
        self.database.kinds(now_ms() - i64::try_from(silence.as_millis()).unwrap_or(i64::MAX)).await
    }
}
