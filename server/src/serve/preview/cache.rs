//! Draws pictures one at a time and caches the latest.

use actix_web::web::{self, Bytes};
use shared::api::ErrorCode;
use tokio::sync::Semaphore;

use super::picture;
use crate::database::ShareRow;
use crate::serve::error::ApiError;
use crate::serve::kept::Kept;
use crate::shares::digest_of;

/// Draws pictures and caches the latest.
#[derive(Debug)]
pub(crate) struct Previews {
    turn: Semaphore,
    kept: Kept,
}

impl Default for Previews {
    fn default() -> Self {
        Self { turn: Semaphore::new(1), kept: Kept::default() }
    }
}

impl Previews {
    /// Returns the picture of a link from the cache, or draws it.
    pub(super) async fn picture(&self, tag: &str, share: ShareRow) -> Result<Bytes, ApiError> {
        let failed = |_| ApiError::new(ErrorCode::Internal, "The picture can't be drawn.");
        if let Some(picture) = self.kept.get(tag) {
            return Ok(picture);
        }
        let _turn = self.turn.acquire().await.map_err(|_| failed(()))?;
        // Another request may have drawn the same picture in the meantime.
        if let Some(picture) = self.kept.get(tag) {
            return Ok(picture);
        }
        let drawn = web::block(move || Bytes::from(picture::draw(&share.title, &digest_of(&share)))).await;
        let picture = drawn.map_err(|_| failed(()))?;
        self.kept.keep(tag, picture.clone());
        Ok(picture)
    }
}
