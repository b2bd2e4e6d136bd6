//! Tests a store that fails, hangs or closes connections: nothing acknowledged is lost, and nothing is stored by half.

use std::path::PathBuf;
use std::time::Duration;

use shared::api::{ErrorCode, JobErrorCode};
use testkit::histories::without_folder;
use testkit::http::{Form, check_refusal};
use testkit::padded::padded;
use testkit::patience::wait_until;
use testkit::repro::Played;
use testkit::s3::{Mood, S3};
use testkit::serving::{Launch, ServeProcess};

use crate::injected::jobs::{check_failed, check_finished, recorder, submitted, wait_for};
use crate::injected::place::{check_no_files, files};

/// Server on a bucket that a test can break.
struct Place {
    server: ServeProcess,
    bucket: S3,
    _recorder: Played,
}

impl Place {
    fn new() -> Self {
        let bucket = S3::start();
        let recorder = recorder(r#"cp "$sample" "$output""#);
        let launch = Launch::default()
            .with("--store", bucket.store())
            .with("--jobs", "virtual=1")
            .with_variables(bucket.variables())
            .with_variables(recorder.variables());
        Self { server: ServeProcess::launch(&launch), bucket, _recorder: recorder }
    }

    fn objects(&self) -> Vec<PathBuf> {
        let is_snapshot = |file: &PathBuf| file.to_string_lossy().ends_with(".pickle.gz");
        files(self.bucket.objects()).into_iter().filter(is_snapshot).collect()
    }

    #[track_caller]
    fn wait_until_ready(&self) {
        wait_until("it is ready", || self.server.get("/readyz").status == 200);
    }
}

#[track_caller]
fn check_spoilt(mood: Mood) {
    let place = Place::new();
    let (first, second) = (padded(10_000, 1), padded(20_000, 2));
    let link = place.server.shared(Form::share(&first));
    place.bucket.set_mood(mood);
    let reply = place.server.share(Form::share(&second));
    check_refusal(&reply, ErrorCode::Unavailable, "store");
    assert!(reply.header("retry-after").is_some());
    check_refusal(&place.server.get(&format!("{link}/snapshot")), ErrorCode::Unavailable, "store");
    assert_eq!(place.server.get("/readyz").status, 503);
    // Requests that need no store still work.
    assert_eq!((place.server.get(&link).status, place.server.get("/healthz").status), (200, 200));
    let id = submitted(&place.server);
    check_failed(&place.server, &id, JobErrorCode::NotStored, "store");
    check_no_files(&place.server.data().join("scratch"));

    place.bucket.set_mood(Mood::Fine);
    place.wait_until_ready();
    assert_eq!(place.objects().len(), 1, "nothing of what was refused is there");
    assert_eq!(place.server.get(&format!("{link}/snapshot")).body, first);
    let link = place.server.shared(Form::share(&second));
    assert_eq!(place.server.get(&format!("{link}/snapshot")).body, second);
    check_finished(&place.server, &submitted(&place.server));
    assert_eq!(place.objects().len(), 3);
}

#[test]
fn a_store_that_fails_is_waited_for() {
    check_spoilt(Mood::Fails);
}

#[test]
fn a_store_that_hangs_is_not_waited_for_without_end() {
    check_spoilt(Mood::Hangs);
}

#[test]
fn a_store_that_closes_the_connection_is_asked_again() {
    check_spoilt(Mood::Drops);
}

#[test]
fn a_recording_waits_for_a_folder_that_is_away_for_a_moment() {
    let recorder = recorder(r#"while [ ! -e "$HOME/go" ]; do sleep 0.1; done; cp "$sample" "$output""#);
    let server =
        ServeProcess::launch(&Launch::default().with("--jobs", "virtual=1").with_variables(recorder.variables()));
    server.shared(Form::share(&padded(10_000, 1)));
    let id = submitted(&server);
    wait_for(&server, &id, &["running"]);
    std::fs::write(recorder.path("go"), "").expect("room");
    without_folder(&server.data().join("store/snapshots"), Duration::from_secs(3));
    check_finished(&server, &id);
}

#[test]
fn a_recording_outlives_a_request_that_is_never_answered() {
    let place = Place::new();
    place.bucket.set_mood(Mood::Hangs);
    let id = submitted(&place.server);
    // Long enough for the recording and for the first request to the bucket, which never gets an answer.
    std::thread::sleep(Duration::from_secs(8));
    place.bucket.set_mood(Mood::Fine);
    check_finished(&place.server, &id);
}

#[test]
fn a_store_that_is_away_for_a_moment_is_not_noticed() {
    let place = Place::new();
    place.bucket.set_mood(Mood::Fails);
    std::thread::scope(|scope| {
        let upload = scope.spawn(|| place.server.shared(Form::share(&padded(30_000, 3))));
        std::thread::sleep(Duration::from_millis(1500));
        place.bucket.set_mood(Mood::Fine);
        upload.join().expect("a link");
    });
    assert_eq!(place.objects().len(), 1);
}
