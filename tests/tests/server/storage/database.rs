//! Tests the life cycles of jobs, snapshots and shares in the database.

use server::database::{
    Claim, Counts, Database, Deletion, JobRow, NewJob, NewShare, Outcome, Page, Submission, now_ms,
};
use shared::api::{JobEvent, JobState, JobTask};
use testkit::both;
use testkit::storage::Backend;

use crate::storage::with_database;

fn job(id: &str, priority: u16) -> NewJob {
    NewJob {
        id: id.to_owned(),
        kind: "virtual".to_owned(),
        priority,
        name: "gpt2".to_owned(),
        config: "{}".to_owned(),
        source: "model = 'gpt2'".to_owned(),
        notes: "[]".to_owned(),
        idempotency_key: None,
        request_hash: "a".to_owned(),
        card: "a100-80gb".to_owned(),
        steps: 3,
        task: JobTask::Record,
    }
}

fn outcome(state: JobState, snapshot: Option<&str>) -> Outcome {
    Outcome {
        state,
        result: None,
        report: None,
        curve: None,
        error: None,
        log: String::new(),
        snapshot: snapshot.map(str::to_owned),
    }
}

fn share(token: &str, snapshot: &str, expires_ms: Option<i64>) -> NewShare {
    NewShare {
        token_hash: token.to_owned(),
        delete_hash: "d".to_owned(),
        snapshot: snapshot.to_owned(),
        title: "a".to_owned(),
        view_state: "{}".to_owned(),
        digest: "{}".to_owned(),
        expires_ms,
    }
}

/// Claims the next job for a worker that runs no other, and checks that it is this one.
async fn claim(database: &Database, id: &str, worker: &str) -> Option<JobRow> {
    match database.claim("virtual", worker, true).await.unwrap() {
        Claim::Mine(row) => {
            assert_eq!(row.id, id);
            Some(*row)
        }
        Claim::Alone | Claim::Nothing => None,
    }
}

fn event(state: JobState) -> String {
    serde_json::to_string(&JobEvent::State { state }).unwrap()
}

async fn bodies(database: &Database, id: &str) -> Vec<String> {
    database.events_after(id, 0, 100).await.unwrap().into_iter().map(|event| event.body).collect()
}

fn a_job_lives_once(backend: Backend) {
    with_database(backend, async |database| {
        assert_eq!(database.submit(&job("a", 0)).await.unwrap(), Submission::New);
        assert_eq!(claim(&database, "a", "w1").await.unwrap().attempts, 1);
        assert_eq!(claim(&database, "a", "w2").await, None);
        assert_eq!(database.report("a", "w2", None, &[]).await.unwrap(), None);
        assert_eq!(database.report("a", "w1", Some("1"), &["x".to_owned()]).await.unwrap(), Some(false));
        assert!(!database.finish("a", "w2", &outcome(JobState::Failed, None)).await.unwrap());
        database.add_snapshot("hash", "object", 10).await.unwrap();
        assert!(database.finish("a", "w1", &outcome(JobState::Finished, Some("hash"))).await.unwrap());
        assert!(!database.finish("a", "w1", &outcome(JobState::Failed, None)).await.unwrap());
        let states = [JobState::Queued, JobState::Running].map(event);
        let expected = [states.to_vec(), vec!["x".to_owned(), event(JobState::Finished)]].concat();
        assert_eq!(bodies(&database, "a").await, expected);
        let row = database.job("a").await.unwrap().unwrap();
        assert_eq!((row.progress.as_deref(), row.snapshot.as_deref()), (Some("1"), Some("hash")));
    });
}

fn a_request_may_be_repeated(backend: Backend) {
    with_database(backend, async |database| {
        let keyed = |id: &str, hash: &str| NewJob {
            idempotency_key: Some("key".to_owned()),
            request_hash: hash.to_owned(),
            ..job(id, 0)
        };
        assert_eq!(database.submit(&keyed("a", "x")).await.unwrap(), Submission::New);
        assert_eq!(database.submit(&keyed("b", "x")).await.unwrap(), Submission::Known("a".to_owned()));
        assert_eq!(database.submit(&keyed("c", "y")).await.unwrap(), Submission::Conflict);
        assert_eq!(database.jobs(&Page { limit: 10, ..Page::default() }).await.unwrap().len(), 1);
    });
}

fn cancelled_jobs_do_not_start(backend: Backend) {
    with_database(backend, async |database| {
        database.submit(&job("a", 0)).await.unwrap();
        database.submit(&job("b", 0)).await.unwrap();
        assert_eq!(database.cancel("a").await.unwrap(), Some(JobState::Cancelled));
        claim(&database, "b", "w").await.expect("it is next");
        assert_eq!(claim(&database, "a", "w").await, None);
        assert_eq!(database.cancel("b").await.unwrap(), Some(JobState::Running));
        assert_eq!(database.report("b", "w", None, &[]).await.unwrap(), Some(true));
        assert_eq!(database.cancel("c").await.unwrap(), None);
    });
}

fn a_silent_worker_loses_its_job(backend: Backend) {
    with_database(backend, async |database| {
        database.submit(&job("a", 0)).await.unwrap();
        for attempt in 1..=3 {
            let worker = format!("w{attempt}");
            let row = claim(&database, "a", &worker).await.unwrap();
            assert_eq!(row.attempts, attempt);
            database.report("a", &worker, None, &[]).await.unwrap();
            // An earlier count of its reports is stale.
            assert_eq!(database.put_back("a", row.beats, "dead").await.unwrap(), None);
            let expected = if attempt < 3 { JobState::Queued } else { JobState::Failed };
            assert_eq!(database.put_back("a", row.beats + 1, "dead").await.unwrap(), Some(expected));
            assert_eq!(database.report("a", &worker, None, &[]).await.unwrap(), None);
        }
        assert_eq!(database.job("a").await.unwrap().unwrap().error.as_deref(), Some("dead"));
    });
}

fn a_job_that_saw_two_workers_die_runs_alone(backend: Backend) {
    with_database(backend, async |database| {
        database.submit(&job("a", 0)).await.unwrap();
        for worker in ["w1", "w2"] {
            let Claim::Mine(row) = database.claim("virtual", worker, false).await.unwrap() else {
                panic!("it runs beside others");
            };
            database.put_back("a", row.beats, "dead").await.unwrap();
        }
        assert_eq!(database.claim("virtual", "w3", false).await.unwrap(), Claim::Alone);
        assert_eq!(database.job("a").await.unwrap().unwrap().state, "queued", "it was left as it is");
        assert_eq!(claim(&database, "a", "w3").await.unwrap().attempts, 3);
        assert_eq!(database.claim("virtual", "w4", false).await.unwrap(), Claim::Nothing);
    });
}

fn an_orderly_stop_is_no_attempt(backend: Backend) {
    with_database(backend, async |database| {
        database.submit(&job("a", 0)).await.unwrap();
        for _ in 0..5 {
            assert_eq!(claim(&database, "a", "w").await.unwrap().attempts, 1);
            assert_eq!(database.give_back("a", "w", false).await.unwrap(), Some(JobState::Queued));
        }
        // A recorder that was killed by a signal may be killed again, so this attempt counts.
        claim(&database, "a", "w").await.unwrap();
        assert_eq!(database.give_back("a", "w", true).await.unwrap(), Some(JobState::Queued));
        assert_eq!(claim(&database, "a", "w").await.unwrap().attempts, 2);
    });
}

fn the_queue_has_an_order(backend: Backend) {
    with_database(backend, async |database| {
        for (id, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5)] {
            database.submit(&job(id, priority)).await.unwrap();
        }
        for (id, before) in [("a", 2), ("b", 0), ("c", 3), ("d", 1)] {
            assert_eq!(database.job_summary(id).await.unwrap().unwrap().ahead, Some(before), "{id}");
        }
        let counts = database.job_counts().await.unwrap();
        for id in ["b", "d", "a", "c"] {
            claim(&database, id, "w").await.expect("it is next");
        }
        assert_eq!(counts, [Counts { kind: "virtual".to_owned(), state: "queued".to_owned(), jobs: 4 }]);
    });
}

fn workers_that_claim_at_once_get_different_jobs(backend: Backend) {
    with_database(backend, async |database| {
        for number in 0..20 {
            database.submit(&job(&format!("{number:02}"), 0)).await.unwrap();
        }
        let mut ids = Vec::new();
        // Whoever finds the next job taken looks again, as workers do.
        while ids.len() < 20 {
            let workers: Vec<String> = (0..8).map(|number| format!("w{number}")).collect();
            let claims = workers.iter().map(|worker| database.claim("virtual", worker, false));
            for claim in futures_util::future::join_all(claims).await {
                if let Claim::Mine(row) = claim.unwrap() {
                    ids.push(row.id);
                }
            }
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 20);
        assert_eq!(database.claim("virtual", "w", false).await.unwrap(), Claim::Nothing);
        assert_eq!(database.claim("cuda:0", "w", false).await.unwrap(), Claim::Nothing);
    });
}

fn the_queue_is_bounded_however_many_submit_at_once(backend: Backend) {
    with_database(backend, async |database| {
        database.set_limits(u64::MAX, 3).await.unwrap();
        let jobs: Vec<NewJob> = (0..20).map(|number| job(&format!("{number:02}"), 0)).collect();
        let submitted = futures_util::future::join_all(jobs.iter().map(|job| database.submit(job))).await;
        let submitted: Vec<Submission> = submitted.into_iter().map(Result::unwrap).collect();
        let count = |wanted: Submission| submitted.iter().filter(|submission| **submission == wanted).count();
        assert_eq!((count(Submission::New), count(Submission::QueueFull)), (3, 17));
        assert_eq!(database.job_counts().await.unwrap()[0].jobs, 3);
    });
}

fn lists_read_what_they_show(backend: Backend) {
    with_database(backend, async |database| {
        finished(&database, "a", "h").await;
        database.submit(&job("b", 0)).await.unwrap();
        let rows = database.jobs(&Page { limit: 10, ..Page::default() }).await.unwrap();
        let shown: Vec<_> = rows.iter().map(|row| (&*row.id, row.snapshot_bytes, row.ahead)).collect();
        assert_eq!(shown, [("b", None, Some(0)), ("a", Some(5), None)]);
        for row in rows {
            assert_eq!((row.card.as_deref(), row.steps, row.config), (Some("a100-80gb"), Some(3), None));
        }
    });
}

fn all_that_is_kept_counts_in_the_quota(backend: Backend) {
    with_database(backend, async |database| {
        finished(&database, "a", "h").await;
        // `{}`, `model = 'gpt2'`, `[]` and `curve of a`, and five bytes of a snapshot.
        assert_eq!((database.job_bytes().await.unwrap(), database.used_bytes().await.unwrap()), (28, 33));
        database.set_limits(60, 10).await.unwrap();
        assert!(database.has_room(27).await.unwrap() && !database.has_room(28).await.unwrap());
        assert_eq!(database.add_snapshot("large", "o", 28).await.unwrap(), None);
        assert_eq!(database.add_snapshot("h", "again", 1000).await.unwrap().unwrap().stored_bytes, 5);
        assert_eq!(database.submit(&job("b", 0)).await.unwrap(), Submission::New);
        assert_eq!(database.submit(&job("c", 0)).await.unwrap(), Submission::NoRoom);
        claim(&database, "b", "w").await.unwrap();
        database.report("b", "w", None, &["12345".to_owned()]).await.unwrap();
        assert_eq!(database.used_bytes().await.unwrap(), 33 + 18 + 5);
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::Deleted);
        assert_eq!(database.submit(&job("c", 0)).await.unwrap(), Submission::New);
    });
}

fn snapshots_stay_while_something_refers_to_them(backend: Backend) {
    with_database(backend, async |database| {
        let later = now_ms() + 1000;
        assert_eq!(database.add_snapshot("h", "first", 5).await.unwrap().unwrap().object, "first");
        // The same bytes once more: the first object is kept.
        assert_eq!(database.add_snapshot("h", "second", 5).await.unwrap().unwrap().object, "first");
        let share = share("t", "h", None);
        assert!(database.share(&share).await.unwrap());
        assert_eq!(database.shared("t").await.unwrap().unwrap().object, "first");
        assert_eq!(database.unreferenced(later, 10).await.unwrap(), Vec::<String>::new());
        assert_eq!(database.forget_snapshot("h", later).await.unwrap(), None);
        assert!(!database.unshare("t", "wrong").await.unwrap());
        assert!(database.unshare("t", "d").await.unwrap());
        assert_eq!(database.unreferenced(later, 10).await.unwrap(), ["h"]);
        assert_eq!(database.forget_snapshot("h", 0).await.unwrap(), None);
        assert_eq!(database.forget_snapshot("h", later).await.unwrap().as_deref(), Some("first"));
        assert!(!database.share(&share).await.unwrap());
        assert_eq!(database.stored_bytes().await.unwrap(), 0);
    });
}

/// Adds a job that a worker has finished, with a snapshot and a curve.
async fn finished(database: &Database, id: &str, snapshot: &str) {
    database.submit(&job(id, 0)).await.unwrap();
    claim(database, id, "w").await.unwrap();
    database.add_snapshot(snapshot, &format!("object of {snapshot}"), 5).await.unwrap();
    let curve = Some(format!("curve of {id}"));
    assert!(database.finish(id, "w", &Outcome { curve, ..outcome(JobState::Finished, Some(snapshot)) }).await.unwrap());
}

fn a_job_that_is_over_can_be_deleted(backend: Backend) {
    with_database(backend, async |database| {
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::Unknown);
        database.submit(&job("a", 0)).await.unwrap();
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::NotOver);
        claim(&database, "a", "w").await.unwrap();
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::NotOver);
        database.cancel("a").await.unwrap();
        // It runs until its worker has learnt of the cancellation.
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::NotOver);
        assert!(database.finish("a", "w", &outcome(JobState::Cancelled, None)).await.unwrap());
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::Deleted);
        assert_eq!(database.delete_job("a").await.unwrap(), Deletion::Unknown);
        assert_eq!(database.job("a").await.unwrap(), None);
        assert_eq!(bodies(&database, "a").await, Vec::<String>::new());
        // Nothing is left to do, and a late worker changes nothing.
        assert_eq!(claim(&database, "a", "w").await, None);
        assert!(!database.finish("a", "w", &outcome(JobState::Failed, None)).await.unwrap());
        assert_eq!(database.put_back("a", 1, "dead").await.unwrap(), None);
    });
}

fn a_deleted_job_leaves_what_others_refer_to(backend: Backend) {
    with_database(backend, async |database| {
        for (id, snapshot) in [("a", "shared"), ("b", "twice"), ("c", "twice"), ("d", "alone")] {
            finished(&database, id, snapshot).await;
        }
        assert!(database.share(&share("t", "shared", None)).await.unwrap());
        for id in ["a", "b", "d"] {
            assert_eq!(database.delete_job(id).await.unwrap(), Deletion::Deleted);
        }
        let later = now_ms() + 1000;
        assert_eq!(database.unreferenced(later, 10).await.unwrap(), ["alone"]);
        assert_eq!(database.shared("t").await.unwrap().unwrap().object, "object of shared");
        assert_eq!(database.job("c").await.unwrap().unwrap().snapshot.as_deref(), Some("twice"));
        // The row of a snapshot is deleted before its object, and only when no new reference to it can be under way.
        assert_eq!(database.forget_snapshot("alone", 0).await.unwrap(), None);
        assert_eq!(database.forget_snapshot("alone", later).await.unwrap().as_deref(), Some("object of alone"));
    });
}

fn a_job_has_the_name_that_it_was_given_last(backend: Backend) {
    with_database(backend, async |database| {
        finished(&database, "a", "h").await;
        assert!(database.rename_job("a", "größer 🎉").await.unwrap());
        assert_eq!(database.job("a").await.unwrap().unwrap().name, "größer 🎉");
        assert!(!database.rename_job("b", "none").await.unwrap());
        assert_eq!(database.job_documents("a").await.unwrap().curve.as_deref(), Some("curve of a"));
        assert_eq!(database.job_documents("b").await.unwrap().curve, None);
    });
}

fn shares_end(backend: Backend) {
    with_database(backend, async |database| {
        database.add_snapshot("h", "o", 5).await.unwrap();
        database.share(&share("past", "h", Some(now_ms() - 1))).await.unwrap();
        database.share(&share("future", "h", Some(now_ms() + 60_000))).await.unwrap();
        assert!(database.shared("past").await.unwrap().is_none());
        assert!(database.shared("future").await.unwrap().is_some());
        assert_eq!(database.forget_expired().await.unwrap(), 1);
        assert_eq!(database.share_count().await.unwrap(), 1);
    });
}

both!(
    a_job_lives_once,
    a_request_may_be_repeated,
    cancelled_jobs_do_not_start,
    a_silent_worker_loses_its_job,
    a_job_that_saw_two_workers_die_runs_alone,
    an_orderly_stop_is_no_attempt,
    the_queue_has_an_order,
    workers_that_claim_at_once_get_different_jobs,
    the_queue_is_bounded_however_many_submit_at_once,
    lists_read_what_they_show,
    all_that_is_kept_counts_in_the_quota,
    snapshots_stay_while_something_refers_to_them,
    a_job_that_is_over_can_be_deleted,
    a_deleted_job_leaves_what_others_refer_to,
    a_job_has_the_name_that_it_was_given_last,
    shares_end,
);
