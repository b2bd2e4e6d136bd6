//! Does to the system what NVIDIA's driver does when it starts, and fails as it does where that is refused.
//!
//! A recorder on a real GPU runs in a sandbox, and tests have no real driver: with this library in its place they fail
//! if the sandbox refuses what a driver needs. It is not done where a command has set `SNAPSCOPE_VIRTUAL_GPU`.

use std::fs::{self, File};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::mpsc::channel;
use std::thread;

use crate::error::{Error, Result};

/// Makes the accesses of driver 580, in its order.
///
/// # Errors
/// Returns "operating system" if one is refused.
pub(super) fn start() -> Result<()> {
    let start = || name_thread().and_then(|()| share_memory()).and_then(|()| listen()).and_then(|()| watch_devices());
    start().map_err(|error| {
        crate::log::line(format_args!("the driver cannot start: {error}"));
        Error::OperatingSystem
    })
}

/// Names a thread by its file in `/proc`, as the driver does with its own.
fn name_thread() -> io::Result<()> {
    let ((tell, told), (end, ended)) = (channel(), channel::<()>());
    let thread = thread::spawn(move || {
        // SAFETY: the call has no arguments and cannot fail.
        let _ = tell.send(unsafe { libc::gettid() });
        let _ = ended.recv();
    });
    let named = told
        .recv()
        .map_err(io::Error::other)
        .and_then(|id| fs::write(format!("/proc/self/task/{id}/comm"), "cuda-EvtHandlr"));
    drop(end);
    let _ = thread.join();
    named
}

fn share_memory() -> io::Result<()> {
    let path = format!("/dev/shm/cuda.shm.{:x}", std::process::id());
    File::create(&path)?.set_len(1 << 20)?;
    fs::remove_file(path)
}

/// Opens the socket through which processes share virtual memory, and reaches the daemon of a shared GPU, if one is set.
fn listen() -> io::Result<()> {
    let address = SocketAddr::from_abstract_name(format!("cuda-uvmfd-{}", std::process::id()))?;
    let _listener = UnixListener::bind_addr(&address)?;
    match std::env::var("CUDA_MPS_PIPE_DIRECTORY") {
        Ok(folder) => UnixStream::connect(format!("{folder}/control")).map(drop),
        Err(_) => Ok(()),
    }
}

fn watch_devices() -> io::Result<()> {
    // SAFETY: the arguments are plain numbers, and the descriptor is closed once.
    unsafe {
        let socket = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_KOBJECT_UEVENT);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::close(socket);
    }
    Ok(())
}
