//! Sandboxes a process that reads untrusted files: Landlock for files, seccomp for system calls, few capabilities.
//!
//! The sandbox is a second line of defence: a recorder runs no foreign code, and a decoder trusts no byte of its input.
//! If either has a fault all the same, it can reach no more than its own folder.
//! For a script from strangers it is the only line, so that such a script does not run where a wall is missing.
//!
//! Invariant: a refused system call returns an error; no process is killed for trying.
//!
//! Before a process starts its work, it gives up files outside its folder, the network, other programs and processes,
//! parts of the kernel, and root's capabilities; an old kernel gives less protection but no failure.
//! The driver of a real GPU needs more, which SECURITY.md lists; a recorder on a virtual GPU does not get it.
//! Tests have no such driver: `tests/walls/driver.rs` makes its accesses, and so does the virtual GPU when it starts
//! and nobody has asked for a virtual GPU (`virtual-gpu/src/state/driver.rs`).

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
mod places;
#[cfg(target_os = "linux")]
mod rights;

use std::path::PathBuf;

/// Files, folders and devices that a process may still open once its walls are up.
///
/// Files that are already open stay open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walls {
    /// Files and folders that may be read, including everything below them.
    pub read: Vec<PathBuf>,
    /// Folders below which files may be read, written, renamed and removed.
    pub write: Vec<PathBuf>,
    /// Device files that may be read, written and controlled by `ioctl`.
    pub devices: Vec<PathBuf>,
    /// True if the driver of a real GPU lives behind the walls: it names its threads, and makes and opens sockets.
    pub has_driver: bool,
    /// What foreign code may run behind the walls.
    pub programs: Programs,
}

/// Programs that may be executed behind walls, if they lie where files may be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Programs {
    /// None, and no process can be started: the work is that of this program.
    #[default]
    None,
    /// One at a time, in place of this program; no process can be started.
    ///
    /// Since it is foreign, whatever Landlock does not cover is refused as well: other processes' signals and limits, and
    /// the modes, owners and times of files.
    Foreign,
    /// Any number of processes, which raise walls of their own.
    Supervised,
}

impl Walls {
    /// Raises the walls for this thread and for every thread that it starts afterwards, irrevocably.
    ///
    /// A process must call this before it starts threads, because threads that already run stay unrestricted.
    /// Returns one sentence for each wall that this system does not support; an old kernel is not an error.
    #[must_use]
    pub fn raise(&self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        return [rights::give_up(self.has_driver), files::restrict(self), calls::refuse(self)]
            .into_iter()
            .filter_map(Result::err)
            .collect();
        #[cfg(not(target_os = "linux"))]
        return vec!["this system cannot sandbox a process".to_owned()];
    }
}
