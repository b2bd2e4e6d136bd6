//! Distributes new job events to all watchers with one database query per job.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shared::api::JobEvent;
use tokio::sync::watch::{self, Receiver, Sender};

use crate::database::{Database, Event};

/// Interval between queries for new events.
const LOOK: Duration = Duration::from_millis(300);

/// Number of queries without events after which the existence of the job is checked.
const LOOKS_IN_VAIN: u32 = 50;

/// Maximum number of events per query.
const MOST_EVENTS: i64 = 500;

/// Feeds with at least one reader, by job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feeds(Arc<Mutex<HashMap<String, Receiver<News>>>>);

/// Latest events of a job, without gaps.
#[derive(Debug, Clone, Default)]
struct News {
    /// Number of the event before the first of `events`.
    after: i64,
    events: Arc<[Event]>,
}

/// A reader of a job's events, which returns each event once and in order.
#[derive(Debug)]
pub(crate) struct Reader {
    database: Database,
    job: String,
    /// Number of the last event that was read.
    last: i64,
    /// `None` until the reader has caught up with the database.
    feed: Option<Receiver<News>>,
    feeds: Feeds,
    is_over: bool,
}

impl Feeds {
    /// Makes a reader of a job's events after number `last`.
    pub(crate) fn read(&self, database: &Database, job: String, last: i64) -> Reader {
        Reader { database: database.clone(), job, last, feed: None, feeds: self.clone(), is_over: false }
    }

    /// Returns the feed of a job; a new feed starts after number `last`.
    fn join(&self, database: &Database, job: &str, last: i64) -> Receiver<News> {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(job).filter(|feed| feed.has_changed().is_ok()) {
            return feed.clone();
        }
        let (sender, feed) = watch::channel(News { after: last, events: Arc::default() });
        feeds.insert(job.to_owned(), feed.clone());
        tokio::spawn(supply(self.clone(), database.clone(), job.to_owned(), sender));
        feed
    }

    /// Removes a feed without readers, and returns true if it did.
    fn leave(&self, job: &str, sender: &Sender<News>) -> bool {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One receiver belongs to the table itself.
        let is_unread = sender.receiver_count() <= 1;
        if is_unread {
            feeds.remove(job);
        }
        is_unread
    }

    fn remove(&self, job: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
    }
}

/// Publishes new events until the job has ended or was deleted, or until nobody reads any more.
async fn supply(feeds: Feeds, database: Database, job: String, sender: Sender<News>) {
    let (mut last, mut in_vain) = (sender.borrow().after, 0);
    while !feeds.leave(&job, &sender) {
        match database.events_after(&job, last, MOST_EVENTS).await {
            Ok(events) if !events.is_empty() => {
                let after = std::mem::replace(&mut last, events[events.len() - 1].sequence);
                let is_over = events.iter().any(is_end);
                sender.send_replace(News { after, events: events.into() });
                if is_over {
                    break;
                }
                in_vain = 0;
            }
            // A short outage of the database only delays the events.
            _ => in_vain += 1,
        }
        if in_vain == LOOKS_IN_VAIN {
            in_vain = 0;
            if matches!(database.job(&job).await, Ok(None)) {
                break;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
    // The feed is removed before the sender is dropped, so that later readers get a new feed.
    feeds.remove(&job);
}

impl Reader {
    /// Returns the next events, or `None` once the job has ended.
    ///
    /// Cancellation-safe: a future that is dropped early has consumed no event.
    pub(crate) async fn next(&mut self) -> Option<Vec<Event>> {
        while !self.is_over {
            let events = match &mut self.feed {
                None => self.catch_up().await,
                Some(feed) => {
                    let News { after, events } = feed.borrow_and_update().clone();
                    let new: Vec<_> = events.iter().filter(|event| event.sequence > self.last).cloned().collect();
                    if self.last < after {
                        // The feed has advanced past this reader, which must catch up from the database.
                        self.feed = None;
                        continue;
                    }
                    if new.is_empty() && feed.changed().await.is_err() {
                        return None;
                    }
                    new
                }
            };
            if let Some(last) = events.last() {
                self.last = last.sequence;
                self.is_over = is_end(last);
                return Some(events);
            }
        }
        None
    }

    /// Reads stored events, and joins the feed once there are no more.
    async fn catch_up(&mut self) -> Vec<Event> {
        match self.database.events_after(&self.job, self.last, MOST_EVENTS).await {
            Ok(events) if events.len() < MOST_EVENTS as usize => {
                let last = events.last().map_or(self.last, |event| event.sequence);
                self.feed = Some(self.feeds.join(&self.database, &self.job, last));
                events
            }
            Ok(events) => events,
            Err(_) => {
                tokio::time::sleep(LOOK).await;
                Vec::new()
            }
        }
    }
}

fn is_end(event: &Event) -> bool {
    matches!(serde_json::from_str(&event.body), Ok(JobEvent::State { state }) if state.is_over())
}

#[cfg(test)]
mod tests {
    use shared::api::JobState;

    use super::*;
    use crate::database::{NewJob, Outcome};

    /// Makes a database with a running job; it lasts as long as the returned folder.
    async fn running() -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("a.sqlite").display());
        let database = Database::open(&address).await.unwrap();
        let job = NewJob { id: "a".to_owned(), kind: "virtual".to_owned(), ..NewJob::default() };
        database.submit(&job).await.unwrap();
        database.claim("virtual", "w", true).await.unwrap();
        (folder, database)
    }

    async fn say(database: &Database, number: usize) {
        database.report("a", "w", None, &[format!("\"{number}\"")]).await.unwrap();
    }

    /// Reads the numbers of all events from a reader's position to the end of the job.
    async fn read(mut reader: Reader) -> Vec<i64> {
        let mut numbers = Vec::new();
        while let Some(events) = reader.next().await {
            numbers.extend(events.iter().map(|event| event.sequence));
        }
        numbers
    }

    #[tokio::test]
    async fn everybody_reads_each_event_once_and_the_database_is_asked_for_all() {
        let (_folder, database) = running().await;
        let feeds = Feeds::default();
        for number in 0..5 {
            say(&database, number).await;
        }
        let readers: Vec<_> =
            (0..20).map(|place| tokio::spawn(read(feeds.read(&database, "a".to_owned(), place % 7)))).collect();
        for number in 5..12 {
            tokio::time::sleep(LOOK / 2).await;
            say(&database, number).await;
            assert!(feeds.0.lock().unwrap().len() <= 1);
        }
        // A late reader starts with the database and continues with the feed.
        let late = tokio::spawn(read(feeds.read(&database, "a".to_owned(), 0)));
        tokio::time::sleep(LOOK * 2).await;
        say(&database, 12).await;
        assert!(database.finish("a", "w", &Outcome::of(JobState::Cancelled)).await.unwrap());
        // Expected are the events of the states queued and running, 13 messages and the end.
        for (place, reader) in readers.into_iter().enumerate() {
            assert_eq!(reader.await.unwrap(), (place as i64 % 7 + 1..=16).collect::<Vec<_>>());
        }
        assert_eq!(late.await.unwrap(), (1..=16).collect::<Vec<_>>());
        assert!(feeds.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_feed_ends_when_nobody_reads_it() {
        let (_folder, database) = running().await;
        let feeds = Feeds::default();
        let mut reader = feeds.read(&database, "a".to_owned(), 0);
        assert_eq!(reader.next().await.map(|events| events.len()), Some(2));
        assert_eq!(feeds.0.lock().unwrap().len(), 1);
        drop(reader);
        tokio::time::sleep(LOOK * 3).await;
        assert!(feeds.0.lock().unwrap().is_empty());
    }
}
