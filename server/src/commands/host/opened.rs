//! Finds out which files of shared memory a program makes, since files do not say which process has made them.
//!
//! A process that makes a file has it open for as long as it writes to it, and so have those that read it.
//! So what the processes have open is looked at whenever a file is made, and at each sample.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::proc;

/// Time for which the list of processes is used.
const LIST_TIME: Duration = Duration::from_millis(100);

/// Names of files that a program and its descendants have opened, and that still exist.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) names: HashSet<String>,
    /// Number of names so far.
    pub(super) count: u64,
}

/// Looks for files of a folder that a program opens.
#[derive(Debug)]
struct Looker {
    folder: PathBuf,
    root: u32,
    pids: Vec<u32>,
    listed: Option<Instant>,
}

/// Watches a folder in a thread that lasts as long as this process.
pub(super) fn watch(folder: &Path, root: u32) -> Arc<Mutex<Opened>> {
    let opened = Arc::new(Mutex::new(Opened::default()));
    let (folder, to) = (folder.to_owned(), Arc::clone(&opened));
    std::thread::spawn(move || {
        let mut looker = Looker { folder: folder.clone(), root, pids: Vec::new(), listed: None };
        wait_for_files(&folder, || {
            let names = looker.names();
            add(&mut lock(&to), names);
        })
    });
    opened
}

/// Adds what the processes have open now.
pub(super) fn look(opened: &Mutex<Opened>, folder: &Path, pids: Vec<u32>) {
    let looker = Looker { folder: folder.to_owned(), root: 0, pids, listed: Some(Instant::now()) };
    let names = looker.open_names();
    add(&mut lock(opened), names);
}

pub(super) fn lock(opened: &Mutex<Opened>) -> MutexGuard<'_, Opened> {
    opened.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(opened: &mut Opened, names: Vec<String>) {
    for name in names {
        opened.count += u64::from(opened.names.insert(name));
    }
}

impl Looker {
    fn names(&mut self) -> Vec<String> {
        if self.listed.is_none_or(|listed| listed.elapsed() > LIST_TIME) {
            self.pids = proc::below(self.root).into_iter().map(|(pid, _)| pid).collect();
            self.listed = Some(Instant::now());
        }
        self.open_names()
    }

    fn open_names(&self) -> Vec<String> {
        let files = |pid: &u32| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let links = self.pids.iter().flat_map(files).filter_map(|file| fs::read_link(file.path()).ok());
        let names = links.filter_map(|path| path.strip_prefix(&self.folder).ok()?.to_str().map(str::to_owned));
        // A removed file has another name.
        names.filter(|name| !name.ends_with(" (deleted)") && !name.is_empty()).collect()
    }
}

/// Calls a function whenever files appear in a folder; returns if it cannot be watched.
#[cfg(target_os = "linux")]
fn wait_for_files(folder: &Path, mut appeared: impl FnMut()) -> Option<()> {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::mem::MaybeUninit;
    /// Shortest time between two looks, so that a program that makes many files is not watched all the time.
    const PAUSE: Duration = Duration::from_millis(2);
    let inotify = init(CreateFlags::CLOEXEC).ok()?;
    add_watch(&inotify, folder, WatchFlags::CREATE | WatchFlags::MOVED_TO).ok()?;
    let mut buffer = [MaybeUninit::uninit(); 16 << 10];
    let mut events = Reader::new(&inotify, &mut buffer);
    loop {
        events.next().ok()?;
        while !events.is_buffer_empty() {
            events.next().ok()?;
        }
        appeared();
        std::thread::sleep(PAUSE);
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_for_files(_folder: &Path, _appeared: impl FnMut()) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_this_process_opens_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("of_another"), "").unwrap();
        let opened = watch(folder.path(), std::process::id());
        let file = fs::File::create(path("psm_1")).unwrap();
        look(&opened, folder.path(), vec![std::process::id()]);
        look(&opened, folder.path(), vec![std::process::id()]);
        drop(file);
        let opened = lock(&opened);
        assert_eq!((opened.names.iter().map(String::as_str).collect::<Vec<_>>(), opened.count), (vec!["psm_1"], 1));
    }

    #[test]
    fn files_are_seen_when_they_appear() {
        let folder = tempfile::tempdir().unwrap();
        let opened = watch(folder.path(), std::process::id());
        // The thread begins to watch at some time.
        let until = Instant::now() + Duration::from_secs(20);
        let mut files = Vec::new();
        while lock(&opened).names.is_empty() {
            assert!(Instant::now() < until, "no file is seen");
            files.push(fs::File::create(folder.path().join(files.len().to_string())).unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
