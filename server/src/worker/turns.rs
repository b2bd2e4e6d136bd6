//! Turns: jobs run beside each other, but for one that may have ended a worker, which runs alone.
//!
//! A worker that dies counts as an attempt of every job that it ran. The last attempt of a job is its own: if the worker
//! dies in it, too, no neighbour pays for it.

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

/// The turns of a worker, over all kinds of devices.
#[derive(Debug)]
pub(super) struct Turns {
    /// Whoever waits longest is next, so that one that needs all turns comes to them.
    free: Semaphore,
    all: u32,
}

impl Turns {
    /// As many turns as a worker takes jobs at once.
    pub(super) fn new(jobs: usize) -> Self {
        let all = u32::try_from(jobs).unwrap_or(u32::MAX);
        Self { free: Semaphore::new(all as usize), all }
    }

    /// A turn beside others; waits while a job runs alone or waits for that.
    ///
    /// # Errors
    ///
    /// The worker stops.
    pub(super) async fn beside_others(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.free.acquire().await
    }

    /// All turns at once; waits until nothing runs.
    ///
    /// # Errors
    ///
    /// The worker stops.
    pub(super) async fn alone(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.free.acquire_many(self.all).await
    }

    /// Nobody gets a turn any more, nor whoever waits for one.
    pub(super) fn close(&self) {
        self.free.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Whether something is still waited for after a while.
    async fn waits<T>(work: impl Future<Output = T>) -> bool {
        timeout(Duration::from_millis(20), work).await.is_err()
    }

    #[tokio::test]
    async fn who_runs_alone_has_no_neighbour() {
        let turns = Turns::new(2);
        let first = turns.beside_others().await.unwrap();
        let mut alone = Box::pin(turns.alone());
        assert!(waits(&mut alone).await, "another one runs");
        assert!(waits(turns.beside_others()).await, "nobody passes by who waits for all of it");
        drop(first);
        let alone = alone.await.unwrap();
        assert!(waits(turns.beside_others()).await);
        drop(alone);
        let _both = (turns.beside_others().await.unwrap(), turns.beside_others().await.unwrap());
    }

    #[tokio::test]
    async fn a_worker_that_stops_begins_nothing() {
        let turns = Turns::new(1);
        let running = turns.beside_others().await.unwrap();
        let alone = turns.alone();
        turns.close();
        assert!(alone.await.is_err());
        drop(running);
        assert!(turns.beside_others().await.is_err());
    }
}
