//! Tests that a wrong database does not empty the store, that backups restore it, and that old data is served.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use testkit::histories::aftermath::files;
use testkit::http::Form;
use testkit::server::{ServeProcess, built_page, root, snapscope};
use testkit::serving::Launch;

/// Starts a server on a folder, makes one link and stops it; returns the path of the link.
fn served_once(data: &Path) -> String {
    let server = ServeProcess::launch(&Launch { data: Some(data.to_owned()), ..Launch::default() });
    let link = server.shared(Form::share(&fs::read(root().join("static/sample.pickle.gz")).expect("the sample")));
    server.stop("TERM");
    link
}

fn snapscope_data(command: &str, folder: Option<&Path>, data: &Path, options: &[&str]) -> Output {
    let mut program = Command::new(snapscope());
    program.args(["data", command]).args(folder).arg("--data").arg(data).args(options);
    program.env_remove("SNAPSCOPE_DATABASE").env_remove("SNAPSCOPE_STORE").output().expect("the binary to run")
}

#[track_caller]
fn check(output: &Output, status: i32, parts: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn another_database_does_not_empty_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    let link = served_once(data);
    // Housekeeping leaves recent files alone anyway.
    let old = SystemTime::now() - Duration::from_secs(2 * 3600);
    let before = files(&data.join("store"));
    for file in &before {
        fs::File::open(file).and_then(|file| file.set_modified(old)).expect("a time");
    }
    let other = format!("sqlite:{}", data.join("other.sqlite").display());
    let mut command = Command::new(snapscope());
    command.args(["serve", "--listen", "127.0.0.1:0", "--jobs", "virtual=0"]).args(["--database", &other]);
    let refused = command.arg("--dist").arg(built_page()).arg("--data").arg(data).output().expect("the binary to run");
    check(&refused, 2, &["belongs to another database", "nothing was changed"]);
    check(&snapscope_data("check", None, data, &["--database", &other]), 1, &["ANOTHER database"]);
    assert_eq!(files(&data.join("store")), before);

    let server = ServeProcess::launch(&Launch { data: Some(data.to_owned()), ..Launch::default() });
    assert_eq!(server.get(&format!("{link}/snapshot")).status, 200);
    server.stop("TERM");
}

#[test]
fn a_backup_serves_and_is_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let link = served_once(&at("data"));
    check(&snapscope_data("check", None, &at("data"), &["--contents"]), 0, &["1 snapshot", "present and unchanged"]);
    // Other users of the machine have no access.
    let mode = fs::metadata(at("data")).expect("a folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    check(&snapscope_data("backup", Some(&at("backup")), &at("data"), &[]), 0, &["1 of them new"]);
    check(&snapscope_data("backup", Some(&at("backup")), &at("data"), &[]), 0, &["0 of them new"]);
    check(&snapscope_data("restore", Some(&at("backup")), &at("data"), &[]), 2, &["already", "nothing was changed"]);
    check(&snapscope_data("restore", Some(&at("backup")), &at("restored"), &[]), 0, &["1 of them copied"]);
    for name in ["backup", "restored"] {
        let database = fs::metadata(at(name).join("snapscope.sqlite")).expect("a database");
        assert_eq!(database.permissions().mode() & 0o777, 0o600, "{name}");
        let checked = snapscope_data("check", None, &at(name), &["--contents"]);
        check(&checked, 0, &["belong together", "present and unchanged"]);
        let server = ServeProcess::launch(&Launch { data: Some(at(name)), ..Launch::default() });
        assert_eq!(server.get(&format!("{link}/snapshot")).status, 200, "{name}");
        server.stop("TERM");
    }
}

#[test]
fn what_is_missing_or_changed_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    check(&snapscope_data("check", None, data, &[]), 2, &["no database at", "--data"]);
    let empty = data.join("empty");
    let restored = snapscope_data("restore", Some(&empty), data, &[]);
    check(&restored, 2, &["contains no database", "data backup`", "PostgreSQL"]);
    served_once(data);
    let snapshots = files(&data.join("store/snapshots"));
    let [snapshot] = &snapshots[..] else { panic!("one, not {snapshots:?}") };
    let bytes = fs::read(snapshot).expect("a snapshot");
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    fs::write(snapshot, damaged).expect("room");
    check(&snapscope_data("check", None, data, &[]), 0, &["all snapshots are present"]);
    check(&snapscope_data("check", None, data, &["--contents"]), 1, &["changed since they were stored: 1"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    check(&snapscope_data("backup", Some(elsewhere.path()), data, &[]), 2, &["has changed since it was stored"]);
    // A copy of the database would take the place of the one that the server writes.
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(data, &link).expect("a link");
    for inside in [data.to_owned(), data.join("store/inside"), data.join("backup"), link.join("backup")] {
        check(&snapscope_data("backup", Some(&inside), data, &[]), 2, &["lies in the data of the server"]);
    }
    assert!(!data.join("backup").exists());
    fs::remove_file(snapshot).expect("a snapshot");
    check(&snapscope_data("check", None, data, &[]), 1, &["missing from the store: 1"]);
}

/// Data folders of earlier versions, each with a finished job and a link with this token.
const EARLIER: [(&str, &str); 1] = [("2026-11", "r6kg967ew1r7eczvc1f3kj63rv0m2tw4p7jengr")];

#[test]
fn what_earlier_versions_kept_is_served() {
    for (name, token) in EARLIER {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = root().join(format!("tests/data/installations/{name}.tar.gz"));
        let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.expect("tar").success());
        let checked = snapscope_data("check", None, folder.path(), &["--contents"]);
        check(&checked, 0, &["2 snapshots", "present and unchanged"]);
        let server = ServeProcess::launch(&Launch { data: Some(folder.path().to_owned()), ..Launch::default() });
        let share = server.get(&format!("/api/v1/shares/{token}"));
        assert_eq!((share.status, &share.json()["title"]), (200, &"a run of long ago".into()), "{name}");
        // The job is older than jobs are kept, but stays because the clock may be wrong.
        let job = server.get("/api/v1/jobs").json()["jobs"][0].clone();
        assert_eq!((&job["name"], &job["state"]), (&"long ago".into(), &"finished".into()), "{name}");
        // These fields are only in the job's config.
        assert_eq!((&job["card"], &job["steps"]), (&"a100-80gb".into(), &3.into()), "{name}");
        let id = job["id"].as_str().expect("an id");
        for path in [format!("/api/v1/shares/{token}/snapshot"), format!("/api/v1/jobs/{id}/snapshot")] {
            assert_eq!(server.get(&path).status, 200, "{path} of {name}");
        }
        server.stop("TERM");
    }
}
