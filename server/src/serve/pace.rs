//! How slowly a body may come: a connection that says nothing holds a file, and some memory.

use std::future::Future;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _};
use tokio::time::{Instant, timeout_at};

use crate::serve::error::{ApiError, ErrorCode};

/// How long any body may take.
const GRACE: Duration = Duration::from_secs(20);

/// What a second more is given for: less than the slowest line that somebody would send a snapshot over.
const LEAST_BYTES_PER_SECOND: u32 = 4 << 10;

/// The pace of one body: the more of it has come, the longer the rest may take.
#[derive(Debug)]
pub(crate) struct Pace {
    end: Instant,
}

impl Pace {
    /// The pace of a body that begins.
    pub(crate) fn new() -> Self {
        Self { end: Instant::now() + GRACE }
    }

    /// Waits for the next piece, as long as the pace allows.
    ///
    /// # Errors
    ///
    /// It has not come by then.
    pub(crate) async fn wait<T>(&self, piece: impl Future<Output = T>) -> Result<T, ApiError> {
        timeout_at(self.end, piece)
            .await
            .map_err(|_| ApiError::new(ErrorCode::TooSlow, "The request came too slowly, or its sender has gone."))
    }

    /// Takes in what is left of a body that is refused: whoever still sends it would not hear why.
    pub(crate) async fn drain<T, E>(&self, mut pieces: impl Stream<Item = Result<T, E>> + Unpin) {
        while let Ok(Some(Ok(_))) = self.wait(pieces.next()).await {}
    }

    /// Notes that so many bytes have come.
    pub(crate) fn took(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.end += Duration::from_secs(bytes.into()) / LEAST_BYTES_PER_SECOND;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_comes_gives_time_for_more() {
        let mut pace = Pace { end: Instant::now() - Duration::from_secs(5) };
        assert_eq!(pace.wait(async { 1 }).await, Ok(1));
        let refused = pace.wait(std::future::pending::<()>()).await.expect_err("too slow");
        assert_eq!(refused.body().code, "too_slow");
        let before = Instant::now();
        pace.took(600 * LEAST_BYTES_PER_SECOND as usize);
        assert!(pace.end > before + Duration::from_secs(590));
    }
}
