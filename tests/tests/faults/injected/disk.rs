//! Tests a full disk: a small one that only the server's process sees.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use shared::api::{ErrorCode, JobErrorCode};
use tempfile::TempDir;
use testkit::http::{Form, check_refusal};
use testkit::padded::padded;
use testkit::repro::Played;
use testkit::serving::{Launch, ServeProcess};

use crate::injected::jobs::{check_failed, check_finished, recorder, submit, submitted};
use crate::injected::place::{check_no_files, files};

const MIB: u64 = 1 << 20;

/// Script that mounts a disk in memory at `$0` and then runs the rest of its arguments.
const MOUNT: &str = r#"mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@""#;

/// Server whose data is on a disk of 16 MiB.
struct Cramped {
    server: ServeProcess,
    /// Path of the disk as seen from this process.
    disk: PathBuf,
    _folder: TempDir,
    _recorder: Played,
}

impl Cramped {
    /// Starts a server with a recorder that plays a script.
    ///
    /// The mount needs no root, because users may mount a tmpfs in their own user namespace if the system allows that.
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = recorder(script);
        let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT];
        let before = words.map(OsString::from).into_iter().chain([folder.path().into()]).collect();
        let launch = Launch { before, data: Some(folder.path().join("data")), ..Launch::default() };
        let server = ServeProcess::launch(&launch.with("--jobs", "virtual=1").with_variables(recorder.variables()));
        // Outside of the mount namespace, the folder is empty.
        let disk = Path::new("/proc").join(server.pid().to_string()).join("root");
        let disk = disk.join(folder.path().strip_prefix("/").expect("a full path"));
        assert!(disk.join("data/snapscope.sqlite").exists(), "the data is on the small disk");
        Self { server, disk, _folder: folder, _recorder: recorder }
    }

    /// Fills the disk except for `free_bytes`; returns the file that fills it.
    fn fill(&self, free_bytes: u64) -> PathBuf {
        let filler = self.disk.join("filler");
        let mut file = File::create(&filler).expect("a file");
        let piece = vec![0; 64 << 10];
        while file.write_all(&piece).is_ok() {}
        let length = file.metadata().expect("its length").len();
        file.set_len(length.saturating_sub(free_bytes)).expect("to make room");
        filler
    }

    fn stored(&self) -> Vec<PathBuf> {
        files(&self.disk.join("data/store"))
    }
}

#[test]
fn an_upload_finds_no_room_and_takes_none() {
    let cramped = Cramped::new("");
    let (first, second) = (padded(100 << 10, 1), padded(1 << 20, 2));
    let link = cramped.server.shared(Form::share(&first));
    let stored = cramped.stored();
    // At first there is no room to receive the upload, then none to store it.
    for free_bytes in [MIB / 2, MIB * 3 / 2] {
        let filler = cramped.fill(free_bytes);
        check_refusal(&cramped.server.share(Form::share(&second)), ErrorCode::NoRoom, "no space");
        check_no_files(&cramped.disk.join("data/scratch"));
        assert_eq!(cramped.stored(), stored);
        // Reading needs no room.
        assert_eq!(cramped.server.get(&format!("{link}/snapshot")).body, first);
        std::fs::remove_file(filler).expect("to make room");
    }
    let link = cramped.server.shared(Form::share(&second));
    assert_eq!(cramped.server.get(&format!("{link}/snapshot")).body, second);
    assert_eq!(cramped.stored().len(), 2);
}

#[test]
fn a_database_that_cannot_grow_takes_nothing_that_it_would_lose() {
    // No job ends, so nothing but the submissions is written.
    let cramped = Cramped::new("exec sleep 1000");
    let link = cramped.server.shared(Form::share(&padded(1000, 1)));
    cramped.fill(0);
    let ids = |server: &ServeProcess| -> Vec<Value> {
        let list = server.get("/api/v1/jobs?limit=200").json();
        list["jobs"].as_array().expect("jobs").iter().map(|job| job["id"].clone()).collect()
    };
    // The space that the database has in reserve may suffice for some.
    let mut accepted = Vec::new();
    let refusal = loop {
        let reply = submit(&cramped.server);
        if reply.status != 202 {
            break reply;
        }
        accepted.push(reply.json()["id"].clone());
        assert!(accepted.len() < 150, "the disk is full");
    };
    check_refusal(&refusal, ErrorCode::NoRoom, "database");
    check_refusal(&cramped.server.share(Form::share(&padded(1000, 2))), ErrorCode::NoRoom, "no space");
    // What the refused requests gave back would be room for the trial of the health check.
    let filler = cramped.fill(0);
    assert_eq!(cramped.server.get("/readyz").status, 503);
    accepted.reverse();
    assert_eq!(ids(&cramped.server), accepted);
    assert_eq!(cramped.server.get(&link).status, 200);
    std::fs::remove_file(filler).expect("to make room");
    accepted.insert(0, submitted(&cramped.server).into());
    assert_eq!(ids(&cramped.server), accepted);
    assert_eq!(cramped.server.get("/readyz").text(), "ok\n");
}

#[test]
fn a_recording_without_room_fails_with_the_reason() {
    let source = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(source.path(), padded(2 << 20, 1)).expect("room");
    // At first there is no room for the snapshot, then none for its compressed copy.
    let cramped = Cramped::new(&format!("cp '{}' \"$output\" || exit 1", source.path().display()));
    for free_bytes in [MIB, 3 * MIB] {
        let filler = cramped.fill(free_bytes);
        let id = submitted(&cramped.server);
        check_failed(&cramped.server, &id, JobErrorCode::RecordingFailed, "No space left");
        check_no_files(&cramped.disk.join("data/scratch"));
        assert_eq!(cramped.stored(), [""; 0].map(PathBuf::from));
        std::fs::remove_file(filler).expect("to make room");
    }
    check_finished(&cramped.server, &submitted(&cramped.server));
}
