//! Lets jobs run side by side, except for one that may have killed a worker, which runs alone.
//!
//! A worker that dies counts as an attempt of every job that it ran. A job's last attempt is made alone, so that no
//! other job is charged if the worker dies again.

use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Permits to run jobs, over all kinds of devices of a worker.
#[derive(Debug)]
pub(super) struct Turns {
    /// The semaphore is fair, so a job that needs all permits eventually gets them.
    free: Arc<Semaphore>,
    all: u32,
}

impl Turns {
    /// Makes as many permits as the worker takes simultaneous jobs.
    pub(super) fn new(jobs: usize) -> Self {
        let all = u32::try_from(jobs).unwrap_or(u32::MAX);
        Self { free: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Acquires one permit; waits while a job runs alone or waits to do so.
    pub(super) async fn beside_others(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.free).acquire_owned().await
    }

    /// Acquires all permits; waits until no job runs.
    pub(super) async fn alone(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.free).acquire_many_owned(self.all).await
    }

    /// Refuses all further permits, including those being waited for.
    pub(super) fn close(&self) {
        self.free.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Returns true if `work` is still pending after a short time.
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
