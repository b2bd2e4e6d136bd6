//! Draws pictures one at a time and caches the latest.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use actix_web::web::{self, Bytes};
use shared::api::ErrorCode;
use tokio::sync::Semaphore;

use super::picture;
use crate::database::ShareRow;
use crate::serve::error::ApiError;
use crate::shares::digest_of;

/// Number of cached pictures; each takes some tens of kilobytes.
const KEPT: usize = 64;

/// Draws pictures and caches the latest.
#[derive(Debug)]
pub(crate) struct Previews {
    turn: Semaphore,
    kept: Mutex<VecDeque<(String, Bytes)>>,
}

impl Default for Previews {
    fn default() -> Self {
        Self { turn: Semaphore::new(1), kept: Mutex::default() }
    }
}

impl Previews {
    fn kept(&self, tag: &str) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == tag).map(|(_, picture)| picture.clone())
    }

    /// Returns the picture of a link from the cache, or draws it.
    pub(super) async fn picture(&self, tag: &str, share: ShareRow) -> Result<Bytes, ApiError> {
        let failed = |_| ApiError::new(ErrorCode::Internal, "The picture can't be drawn.");
        if let Some(picture) = self.kept(tag) {
            return Ok(picture);
        }
        let _turn = self.turn.acquire().await.map_err(|_| failed(()))?;
        // Another request may have drawn the same picture in the meantime.
        if let Some(picture) = self.kept(tag) {
            return Ok(picture);
        }
        let drawn = web::block(move || Bytes::from(picture::draw(&share.title, &digest_of(&share)))).await;
        let picture = drawn.map_err(|_| failed(()))?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front((tag.to_owned(), picture.clone()));
        Ok(picture)
    }
}
