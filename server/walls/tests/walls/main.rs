//! Tests what is refused behind walls and what still works, each in a thread of its own.

#![cfg(target_os = "linux")]

mod driver;

use std::ffi::CString;
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
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
        self.behind(&Walls::of_recorder(self.inside.path(), false), work)
    }

    /// Does the same with the walls of a script from strangers, or of the process that starts it.
    #[track_caller]
    fn behind_walls_of_script<T: Send>(&self, is_supervisor: bool, work: impl FnOnce(&Path) -> T + Send) -> T {
        let walls = Walls::of_script(self.inside.path(), Path::new("/usr/bin/python3"), &[], is_supervisor);
        self.behind(&walls.expect("an installation"), work)
    }

    #[track_caller]
    fn behind<T: Send>(&self, walls: &Walls, work: impl FnOnce(&Path) -> T + Send) -> T {
        let inside = self.inside.path();
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
fn modes_of_files_outside_stay() {
    let place = Place::new();
    let file = place.outside("file");
    let before = fs::metadata(&file).expect("it is there").mode();
    place.behind_walls(|_| check_refused(fs::set_permissions(&file, fs::Permissions::from_mode(0o777))));
    assert_eq!(fs::metadata(&file).expect("it is there").mode(), before);
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
    let parent = std::os::unix::process::parent_id();
    Place::new().behind_walls(|_| {
        // A process's environment can hold passwords.
        for file in ["environ", "maps", "cmdline"] {
            check_refused(fs::read(format!("/proc/{parent}/{file}")));
        }
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
        // One of a pair of datagrams could be connected to a path, one of a stream can't.
        check_refused(UnixDatagram::pair());
        UnixStream::pair().expect("it leads nowhere else");
    });
}

#[test]
fn no_other_program_runs() {
    Place::new().behind_walls(|_| {
        check_refused(Command::new("/bin/true").status());
        // If `exec` were carried out, `/bin/false` would replace this test and fail it.
        check_refused::<()>(Err(Command::new("/bin/false").exec()));
    });
}

#[test]
#[allow(unsafe_code, reason = "these calls have no safe form, and none of them is carried out")]
fn no_other_process_is_touched() {
    let error = |outcome: i64| (outcome, io::Error::last_os_error().raw_os_error());
    let outcomes = beside_another(|pid| {
        Place::new().behind_walls(|_| {
            [
                error(unsafe { libc::ptrace(libc::PTRACE_ATTACH, pid, 0, 0) }),
                error(unsafe { libc::unshare(libc::CLONE_FS) }.into()),
                // `ptrace` of the x32 ABI; kernels without it would answer `ENOSYS`.
                error(unsafe { libc::syscall(1 << 30 | 521, libc::PTRACE_ATTACH, pid, 0, 0) }),
            ]
        })
    });
    assert_eq!(outcomes, [(-1, Some(libc::EPERM)); 3]);
}

#[test]
fn threads_start_and_have_the_same_walls() {
    let place = Place::new();
    let file = place.outside("file");
    let read = place.behind_walls(|_| thread::spawn(move || fs::read(file)).join().expect("it ends"));
    check_refused(read);
}

/// Runs `work` with the identifier of another process of this user.
fn beside_another<T>(work: impl FnOnce(i32) -> T) -> T {
    let mut other = Command::new("sleep").arg("60").spawn().expect("another process");
    let outcome = work(other.id().cast_signed());
    other.kill().expect("it is ours, and lives");
    other.wait().expect("it ends");
    outcome
}

#[test]
#[allow(unsafe_code, reason = "these calls have no safe form, and none of them is carried out")]
fn foreign_code_changes_nothing_of_others() {
    let place = Place::new();
    let file = place.outside("file");
    let before = fs::metadata(&file).expect("it is there");
    let path = CString::new(file.as_os_str().as_bytes()).expect("no zero byte");
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let error = |outcome: i64| (outcome, io::Error::last_os_error().raw_os_error());
    let own = std::process::id().cast_signed();
    beside_another(|pid| {
        place.behind_walls_of_script(false, |inside| {
            check_refused(fs::read(&file));
            check_refused(fs::write(&file, "changed"));
            check_refused(fs::set_permissions(&file, fs::Permissions::from_mode(0o777)));
            check_refused(std::os::unix::fs::symlink(&file, inside.join("link")));
            fs::hard_link(&file, inside.join("link")).expect_err("it would lead outside");
            check_refused(Command::new("/bin/true").status());
            let path = path.as_ptr();
            let refused = [
                error(unsafe { libc::truncate(path, 0) }.into()),
                error(unsafe { libc::utimensat(libc::AT_FDCWD, path, std::ptr::null(), 0) }.into()),
                error(unsafe { libc::setxattr(path, c"user.a".as_ptr(), path.cast(), 1, 0) }.into()),
                error(unsafe { libc::syscall(libc::SYS_fchmodat2, libc::AT_FDCWD, path, 0o777, 0) }),
                error(unsafe { libc::kill(pid, 0) }.into()),
                error(unsafe { libc::kill(-1, 0) }.into()),
                error(unsafe { libc::kill(0, 0) }.into()),
                error(unsafe { libc::prlimit(pid, libc::RLIMIT_CPU, &raw const none, std::ptr::null_mut()) }.into()),
                error(unsafe { libc::fork() }.into()),
                error(unsafe { libc::shmget(libc::IPC_PRIVATE, 1, 0o600) }.into()),
            ];
            let expected = [libc::EACCES].into_iter().chain([libc::EPERM; 9]);
            assert_eq!(refused.map(|(_, error)| error), expected.map(Some).collect::<Vec<_>>().as_slice());
            assert!(refused.iter().all(|(outcome, _)| *outcome == -1));
            assert_eq!(unsafe { libc::kill(own, 0) }, 0, "it may signal itself");
        });
    });
    let after = fs::metadata(&file).expect("it is there");
    assert_eq!(
        (before.modified().ok(), before.mode(), before.len()),
        (after.modified().ok(), after.mode(), after.len())
    );
}

#[test]
fn a_supervisor_starts_processes_that_reach_no_more() {
    let place = Place::new();
    let file = place.outside("file");
    place.behind_walls_of_script(true, |_| {
        let outcome = |program: &str| Command::new(program).arg(&file).output().expect("it starts").status.success();
        assert!(outcome("/usr/bin/true"));
        assert!(!outcome("/usr/bin/cat") && !outcome("/usr/bin/rm"));
        check_refused(TcpListener::bind("127.0.0.1:0"));
    });
    assert_eq!(fs::read(&file).expect("it is there"), b"what it was");
}

#[test]
fn no_installation_opens_the_home_folder() {
    let home = PathBuf::from(std::env::var_os("HOME").expect("a home folder"));
    let of = |python: &Path| Walls::of_script(Path::new("/tmp"), python, &[], false).map(|walls| walls.read);
    assert!(of(&home.join("bin/python3")).expect_err("it would").contains("no installation"));
    let folder = tempfile::tempdir().expect("a folder");
    let python = folder.path().join("bin/python3");
    fs::create_dir(folder.path().join("bin")).expect("room");
    std::os::unix::fs::symlink("/usr/bin/python3", &python).expect("a link");
    assert!(!of(&python).expect("the system's").contains(&folder.path().to_owned()), "a link is no environment");
    fs::write(folder.path().join("pyvenv.cfg"), "home = /usr/bin\n").expect("room");
    assert!(of(&python).expect("an environment").contains(&folder.path().to_owned()));
}
