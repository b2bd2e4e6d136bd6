//! Stands in for the driver of a real GPU: makes its accesses to the system behind the walls, and others that it must
//! not make.
//!
//! The accesses are those that CUDA's driver 580 was seen to make, and those of its documentation.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use rustix::fs::MemfdFlags;
use rustix::net::netlink::{GENERIC, KOBJECT_UEVENT, RDMA};
use rustix::net::{AddressFamily, Protocol, SocketType, socket};
use rustix::termios::tcgetattr;

use walls::Walls;

use super::Place;

/// What an access needs to be made.
struct Scene<'a> {
    /// Folder of the files of another thread.
    thread: String,
    /// Folder of the files of another process.
    process: String,
    /// Folder that may be written.
    inside: &'a Path,
    /// Socket of another process.
    other: SocketAddr,
}

/// Processes in which an access succeeds.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    Always,
    WithDriver,
    Never,
}
use Allowed::{Always, Never, WithDriver};

type Access = fn(&Scene<'_>) -> io::Result<()>;

const ACCESSES: &[(&str, Allowed, Access)] = &[
    // CUDA fails with error 304 if it cannot name its threads.
    ("name a thread, as `fopen` does", WithDriver, |scene| File::create(format!("{}/comm", scene.thread)).map(drop)),
    ("name a thread, as pthread_setname_np does", WithDriver, |scene| change(&format!("{}/comm", scene.thread))),
    ("read the name of a thread", Always, |scene| fs::read(format!("{}/comm", scene.thread)).map(drop)),
    ("read its own maps", Always, |_| fs::read("/proc/self/maps").map(drop)),
    ("read its own mounts", Always, |_| fs::read("/proc/self/mountinfo").map(drop)),
    ("read about processors", Always, |_| fs::read("/proc/cpuinfo").map(drop)),
    ("read about memory", Always, |_| fs::read("/proc/meminfo").map(drop)),
    ("read how memory is committed", Always, |_| fs::read("/proc/sys/vm/overcommit_memory").map(drop)),
    ("read about memory nodes", Always, |_| fs::read("/sys/devices/system/node/online").map(drop)),
    ("list PCI devices", Always, |_| fs::read_dir("/sys/bus/pci/devices").map(drop)),
    ("find libraries", Always, |_| fs::read("/etc/ld.so.cache").map(drop)),
    ("read the driver's parameters", WithDriver, |_| fs::read("/proc/devices").map(drop)),
    ("control a device", Always, |_| device("/dev/null")),
    ("make a memory file", Always, |_| Ok(rustix::fs::memfd_create("cuda", MemfdFlags::CLOEXEC).map(drop)?)),
    ("make a file of shared memory", WithDriver, |_| shared_memory()),
    ("listen to itself", WithDriver, |_| own_socket()),
    ("watch devices", WithDriver, |_| netlink(Some(KOBJECT_UEVENT))),
    ("list network interfaces", WithDriver, |_| netlink(None)),
    ("make a temporary file", Always, |scene| File::create(scene.inside.join("temporary")).map(drop)),
    ("reach another process's socket", Never, |scene| UnixStream::connect_addr(&scene.other).map(drop)),
    ("ask for other parts of the kernel", Never, |_| netlink(Some(GENERIC))),
    ("control network cards", Never, |_| netlink(Some(RDMA))),
    ("read the command line of another process", WithDriver, |scene| {
        fs::read(format!("{}/cmdline", scene.process)).map(drop)
    }),
    ("rename another process", Never, |scene| change(&format!("{}/comm", scene.process))),
    ("rename another process by a way around", Never, |scene| {
        change(&format!("{}/../../../{}/comm", scene.thread, scene.process.trim_start_matches("/proc/")))
    }),
    ("write to its own memory", Never, |_| change("/proc/self/mem")),
    ("leave the others to die", Never, |_| change("/proc/self/oom_score_adj")),
    ("choose who gets core files", Never, |_| change("/proc/sys/kernel/core_pattern")),
    ("read passwords", Never, |_| fs::read("/etc/shadow").map(drop)),
    ("leave a file behind", Never, |_| File::create("/var/tmp/snapscope-driver").map(drop)),
];

fn change(path: &str) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open(path).map(drop)
}

fn device(path: &str) -> io::Result<()> {
    let device = OpenOptions::new().read(true).write(true).open(path)?;
    // The null device refuses all requests with ENOTTY, and walls would with EACCES.
    tcgetattr(&device).map(drop).map_err(Into::into)
}

fn shared_memory() -> io::Result<()> {
    let path = format!("/dev/shm/cuda.shm.{}", std::process::id());
    File::create_new(&path)?.set_len(1 << 30)?;
    fs::remove_file(path)
}

fn own_socket() -> io::Result<()> {
    let address = SocketAddr::from_abstract_name(format!("cuda-uvmfd-{}", std::process::id()))?;
    let _listener = UnixListener::bind_addr(&address)?;
    UnixStream::connect_addr(&address).map(drop)
}

fn netlink(protocol: Option<Protocol>) -> io::Result<()> {
    Ok(socket(AddressFamily::NETLINK, SocketType::RAW, protocol).map(drop)?)
}

/// Returns the accesses that are refused; those that fail for another reason, such as a missing file, are not.
fn refused(has_driver: bool) -> Vec<&'static str> {
    let place = Place::new();
    let other =
        SocketAddr::from_abstract_name(format!("snapscope-{has_driver}-{}", std::process::id())).expect("a name");
    let _listener = UnixListener::bind_addr(&other).expect("a socket");
    let process = format!("/proc/{}", std::os::unix::process::parent_id());
    place.behind(&Walls::of_recorder(place.inside.path(), has_driver), |inside| {
        let ((named, name), (end, ended)) = (channel(), channel::<()>());
        let thread = thread::spawn(move || {
            named.send(rustix::thread::gettid().as_raw_pid()).expect("somebody listens");
            let _ = ended.recv();
        });
        let thread_id = name.recv().expect("the thread to start");
        let scene = Scene { thread: format!("/proc/self/task/{thread_id}"), process, inside, other };
        let is_refused =
            |access: &Access| access(&scene).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        let refused = ACCESSES.iter().filter(|(_, _, access)| is_refused(access)).map(|(name, ..)| *name).collect();
        drop(end);
        thread.join().expect("it ends");
        refused
    })
}

#[test]
fn a_driver_does_what_it_needs_and_nothing_else_has_its_rights() {
    for has_driver in [true, false] {
        let is_allowed = |allowed| allowed == Always || has_driver && allowed == WithDriver;
        let expected = ACCESSES.iter().filter(|(_, allowed, _)| !is_allowed(*allowed)).map(|(name, ..)| *name);
        assert_eq!(refused(has_driver), expected.collect::<Vec<_>>(), "{has_driver}");
    }
}
