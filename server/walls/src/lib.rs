//! Walls round a process that reads what others wrote, or runs what may go wrong: Landlock for files, seccomp for calls,
//! and none of root's rights.
//!
//! They are the second line: a recorder runs no foreign code and a decoder believes no byte. Where either is wrong all
//! the same, what is left to it is its own folder.
//!
//! Invariant: what is refused comes back as an error of the call; nothing is killed for having asked.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
mod places;
#[cfg(target_os = "linux")]
mod rights;

use std::path::PathBuf;

pub use places::{SHARED_MEMORY, cards, libraries};

/// What is left to a process once its walls are up: whatever is not named here it can't open.
///
/// Files that are open already stay so. Nothing can be executed, wherever it lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walls {
    /// Files and folders that may be read, with all that is below.
    pub read: Vec<PathBuf>,
    /// Folders below which files may be written, renamed and removed, too.
    pub write: Vec<PathBuf>,
    /// Devices that may be used in any way.
    pub devices: Vec<PathBuf>,
}

impl Walls {
    /// Raises the walls round this thread and whatever it starts from now on; nobody can lower them again.
    ///
    /// A process raises them before it starts a thread: those that are there already stay outside.
    /// Returns what this system can't hold, a sentence each: an old kernel is no reason not to work.
    #[must_use]
    pub fn raise(&self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        return [rights::give_up(), files::restrict(self), calls::refuse()]
            .into_iter()
            .filter_map(Result::err)
            .collect();
        #[cfg(not(target_os = "linux"))]
        return vec!["this system has no walls for a process".to_owned()];
    }
}
