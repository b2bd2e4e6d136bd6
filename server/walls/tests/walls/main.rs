//! Tests what is refused behind walls and what still works, each in a thread of its own.

#![cfg(target_os = "linux")]

mod driver;

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use tempfile::TempDir;
use walls::Walls;

/// Two folders with one file each; behind the walls only the first can be reached.
struct Place {
    inside: TempDir,
    outside: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = || {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("file"), "what it was").expect("room");
            folder
        };
        Self { inside: folder(), outside: folder() }
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    /// Runs `work` in a thread behind walls and returns its result; panics if this system lacks one of the walls.
    #[track_caller]
    fn behind_walls<T: Send>(&self, work: impl FnOnce(&Path) -> T + Send) -> T {
        self.behind_walls_with(false, work)
    }

    /// Does the same with or without the driver of a real GPU behind the walls.
    #[track_caller]
    fn behind_walls_with<T: Send>(&self, has_driver: bool, work: impl FnOnce(&Path) -> T + Send) -> T {
        let inside = self.inside.path();
        let walls = Walls::of_recorder(inside, has_driver);
        thread::scope(|scope| {
            let work = scope.spawn(move || {
                assert_eq!(walls.raise(), [""; 0], "this kernel is too old for these tests");
                work(inside)
            });
            work.join().expect("the work to end")
        })
    }
}

#[track_caller]
fn check_refused<T>(outcome: io::Result<T>) {
    assert_eq!(outcome.map(drop).expect_err("it is refused").kind(), ErrorKind::PermissionDenied);
}

#[test]
fn files_outside_are_out_of_reach() {
    let place = Place::new();
    let home = std::env::var_os("HOME").expect("a home folder");
    fs::read_dir(&home).expect("without walls it can be read");
    place.behind_walls(|_| {
        check_refused(fs::read(place.outside("file")));
        check_refused(fs::read_dir(place.outside.path()));
        check_refused(fs::read_dir(&home));
        check_refused(fs::write(place.outside("file"), "changed"));
        check_refused(fs::write(place.outside("new"), "made"));
        check_refused(fs::create_dir(place.outside("folder")));
        check_refused(fs::remove_file(place.outside("file")));
        check_refused(fs::write("/etc/snapscope", "made"));
    });
    assert_eq!(fs::read(place.outside("file")).expect("it is there"), b"what it was");
}

#[test]
fn a_link_leads_nowhere_else() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.outside("file"), place.inside.path().join("link")).expect("a link");
    place.behind_walls(|inside| {
        check_refused(fs::read(inside.join("link")));
        check_refused(fs::write(inside.join("link"), "changed"));
        check_refused(fs::rename(inside.join("file"), place.outside("moved")));
    });
    assert_eq!(fs::read(place.outside("file")).expect("it is there"), b"what it was");
}

#[test]
fn files_inside_and_those_of_the_system_are_in_reach() {
    let place = Place::new();
    place
        .behind_walls(|inside| {
            fs::write(inside.join("file.part"), "new")?;
            fs::rename(inside.join("file.part"), inside.join("file"))?;
            fs::create_dir(inside.join("folder"))?;
            fs::remove_dir(inside.join("folder"))?;
            fs::read("/etc/hosts").and(fs::read("/proc/self/maps")).and(fs::read_dir("/sys"))?;
            fs::File::options().write(true).open("/dev/null")?.write_all(b"nothing")?;
            fs::File::open("/dev/urandom")?.read_exact(&mut [0])
        })
        .expect("all of it works");
    assert_eq!(fs::read(place.inside.path().join("file")).expect("it is there"), b"new");
}

#[test]
fn what_others_know_is_out_of_reach() {
    let place = Place::new();
    let parent = std::os::unix::process::parent_id();
    place.behind_walls(|_| {
        // A process's environment can hold passwords.
        check_refused(fs::read(format!("/proc/{parent}/environ")));
        check_refused(fs::read(format!("/proc/{parent}/maps")));
        check_refused(fs::read(format!("/proc/{parent}/cmdline")));
        check_refused(fs::read("/etc/shadow"));
        fs::read("/proc/self/environ").expect("its own are its own");
    });
}

#[test]
fn no_connection_is_opened() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    TcpStream::connect(address).expect("without walls it can be reached");
    // As a container engine or a database have one.
    let socket = place.inside.path().join("socket");
    let _service = UnixListener::bind(&socket).expect("a socket");
    UnixStream::connect(&socket).expect("without walls it can be reached");
    place.behind_walls(|_| {
        check_refused(TcpStream::connect(address));
        check_refused(TcpListener::bind("127.0.0.1:0"));
        check_refused(TcpListener::bind("[::1]:0"));
        check_refused(UdpSocket::bind("127.0.0.1:0"));
        check_refused(UnixStream::connect(&socket));
    });
}

#[test]
fn no_other_program_runs() {
    let place = Place::new();
    place.behind_walls(|_| {
        check_refused(Command::new("/bin/true").status());
        // If `exec` were carried out, `/bin/false` would replace this test and fail it.
        check_refused::<()>(Err(Command::new("/bin/false").exec()));
    });
}

#[test]
#[allow(unsafe_code, reason = "these calls have no safe form, and none of them is carried out")]
fn no_other_process_is_touched() {
    let place = Place::new();
    let mut other = Command::new("sleep").arg("60").spawn().expect("another process");
    let pid = other.id().cast_signed();
    let error = |outcome: i64| (outcome, io::Error::last_os_error().raw_os_error());
    let outcomes = place.behind_walls(|_| {
        [
            error(unsafe { libc::ptrace(libc::PTRACE_ATTACH, pid, 0, 0) }),
            error(unsafe { libc::unshare(libc::CLONE_FS) }.into()),
        ]
    });
    other.kill().expect("it is ours");
    other.wait().expect("it ends");
    assert_eq!(outcomes, [(-1, Some(libc::EPERM)); 2]);
}

#[test]
fn threads_start_and_have_the_same_walls() {
    let place = Place::new();
    let file = place.outside("file");
    let read = place.behind_walls(|_| thread::spawn(move || fs::read(file)).join().expect("it ends"));
    check_refused(read);
}
