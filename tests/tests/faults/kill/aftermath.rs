//! Checks what must hold after processes were killed, once all jobs have ended.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::histories::{Client, Fleet, aftermath};

use crate::kill::traffic::{Shared, Traffic};

#[track_caller]
pub(crate) fn check(mut fleet: Fleet, traffic: Traffic) {
    let (jobs, shares) = traffic.finish();
    print(&jobs, &shares);
    let contents: BTreeSet<Vec<u8>> = jobs
        .iter()
        .filter_map(|job| check_job(&fleet.client, job))
        .chain(check_shares(&fleet.client, &shares))
        .collect();
    fleet.stop().expect("everything to stop in good order");
    let rest = aftermath::check(&fleet).unwrap_or_else(|wrong| panic!("{wrong}"));
    // Each content was fetched through its row, so equal numbers of objects and contents mean that no row lacks one.
    assert_eq!(rest.objects, contents.len(), "objects and contents");
}

/// Prints the figures of this test, which `--nocapture` shows.
fn print(jobs: &[Value], shares: &[Shared]) {
    let count = |is_so: &dyn Fn(&Value) -> bool| jobs.iter().filter(|job| is_so(job)).count();
    let finished = count(&|job| job["state"] == "finished");
    let again = count(&|job| job["attempts"].as_u64() > Some(1));
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    println!(
        "{name}: {finished} of {} jobs finished, {again} of them after another start; {} links acknowledged",
        jobs.len(),
        shares.len()
    );
}

/// Checks that a job has ended and that the API tells how; returns its snapshot.
#[track_caller]
fn check_job(client: &Client, job: &Value) -> Option<Vec<u8>> {
    let path = format!("/api/v1/jobs/{}/snapshot", job["id"].as_str().expect("an id"));
    let snapshot = client.get(&path).expect("an answer");
    if job["state"] == "finished" {
        assert_eq!((snapshot.status, &job["snapshot_bytes"]), (200, &snapshot.body.len().into()), "{job}");
        assert!(shared::import::import(&snapshot.body).is_ok(), "{job}");
        return Some(snapshot.body);
    }
    assert_eq!(job["state"], "failed", "{job}");
    assert!(job["error"]["message"].as_str().is_some_and(|message| message.ends_with('.')), "{job}");
    assert_eq!(snapshot.status, 404, "{job}");
    None
}

#[track_caller]
fn check_shares(client: &Client, shares: &[Shared]) -> Vec<Vec<u8>> {
    for Shared { token, content } in shares {
        let stored = client.get(&format!("/api/v1/shares/{token}/snapshot")).expect("an answer");
        assert!(stored.status == 200 && stored.body == *content, "a link has lost its snapshot");
    }
    shares.iter().map(|shared| shared.content.clone()).collect()
}
