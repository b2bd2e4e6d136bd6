//! Limits how slowly a request body may arrive, because an idle connection holds a descriptor and memory.

use std::future::Future;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _};
use shared::api::ErrorCode;
use tokio::time::{Instant, timeout_at};

use crate::serve::error::ApiError;

/// Time that any body may take.
const GRACE: Duration = Duration::from_secs(20);

/// Minimum rate beyond that, lower than the slowest connection over which a snapshot would be sent.
const LEAST_BYTES_PER_SECOND: u32 = 4 << 10;

/// Time that no body may exceed, because an upload holds a part of the quota from its start.
const MOST: Duration = Duration::from_secs(3600);

/// Deadline of one body, which each received piece extends.
#[derive(Debug)]
pub(crate) struct Pace {
    end: Instant,
    latest: Instant,
}

impl Pace {
    /// Starts the deadline of a new body.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { end: now + GRACE, latest: now + MOST }
    }

    /// Waits for the next piece until the deadline.
    pub(crate) async fn wait<T>(&self, piece: impl Future<Output = T>) -> Result<T, ApiError> {
        timeout_at(self.end, piece)
            .await
            .map_err(|_| ApiError::new(ErrorCode::TooSlow, "The request arrived too slowly, or its sender is gone."))
    }

    /// Reads and discards the rest of a refused body, because a client may read the response only after sending it all.
    pub(crate) async fn drain<T, E>(&self, mut pieces: impl Stream<Item = Result<T, E>> + Unpin) {
        while let Ok(Some(Ok(_))) = self.wait(pieces.next()).await {}
    }

    /// Extends the deadline for received bytes.
    pub(crate) fn took(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.end = self.latest.min(self.end + Duration::from_secs(bytes.into()) / LEAST_BYTES_PER_SECOND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_comes_gives_time_for_more() {
        let mut pace = Pace { end: Instant::now() - Duration::from_secs(5), ..Pace::new() };
        assert_eq!(pace.wait(async { 1 }).await, Ok(1));
        let refused = pace.wait(std::future::pending::<()>()).await.expect_err("too slow");
        assert_eq!(refused.body().code, ErrorCode::TooSlow.name());
        let before = Instant::now();
        pace.took(600 * LEAST_BYTES_PER_SECOND as usize);
        assert!(pace.end > before + Duration::from_secs(590));
        pace.took(1 << 30);
        assert_eq!(pace.end, pace.latest);
    }
}
