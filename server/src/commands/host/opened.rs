//! Finds out which files of shared memory a program makes, since files do not say which process has made them.
//!
//! A process that makes a file has it open for as long as it writes to it, and so have those that read it.
//! So what the processes have open is looked at whenever a file is made, and at each sample.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::proc;

/// Time for which the list of processes is used.
const LIST_TIME: Duration = Duration::from_millis(100);

/// Files that a program and its descendants have opened.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Names of those that still exist.
    pub(super) names: HashSet<String>,
    /// Bytes of those that were removed and are still open, by their inodes: PyTorch removes the name of a block at once, and
    /// sends it as an open file.
    pub(super) removed: HashMap<u64, u64>,
    /// Number of files so far.
    pub(super) count: u64,
}

/// File that is open at one moment.
#[derive(Debug)]
enum Open {
    Named(String),
    Removed { inode: u64, bytes: u64 },
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
            let files = looker.files();
            // Those that were removed are counted at samples.
            let names =
                files.into_iter().filter_map(|file| if let Open::Named(name) = file { Some(name) } else { None });
            lock(&to).add(names);
        })
    });
    opened
}

/// Takes what the processes have open now.
pub(super) fn look(opened: &Mutex<Opened>, folder: &Path, pids: Vec<u32>) {
    let looker = Looker { folder: folder.to_owned(), root: 0, pids, listed: Some(Instant::now()) };
    let (mut names, mut removed) = (Vec::new(), HashMap::new());
    for file in looker.open_files() {
        match file {
            Open::Named(name) => names.push(name),
            Open::Removed { inode, bytes } => _ = removed.insert(inode, bytes),
        }
    }
    let mut opened = lock(opened);
    opened.add(names);
    opened.count += removed.keys().filter(|inode| !opened.removed.contains_key(*inode)).count() as u64;
    opened.removed = removed;
}

pub(super) fn lock(opened: &Mutex<Opened>) -> MutexGuard<'_, Opened> {
    opened.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opened {
    fn add(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.count += u64::from(self.names.insert(name));
        }
    }
}

impl Looker {
    fn files(&mut self) -> Vec<Open> {
        if self.listed.is_none_or(|listed| listed.elapsed() > LIST_TIME) {
            self.pids = proc::below(self.root).into_iter().map(|(pid, _)| pid).collect();
            self.listed = Some(Instant::now());
        }
        self.open_files()
    }

    fn open_files(&self) -> Vec<Open> {
        let files = |pid: &u32| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        self.pids.iter().flat_map(files).filter_map(|file| self.open_file(&file.path())).collect()
    }

    /// Returns the file of the folder to which a link in `/proc/PID/fd` leads.
    fn open_file(&self, link: &Path) -> Option<Open> {
        let path = fs::read_link(link).ok()?;
        let name = path.strip_prefix(&self.folder).ok()?.to_str().filter(|name| !name.is_empty())?;
        if !name.ends_with(" (deleted)") {
            return Some(Open::Named(name.to_owned()));
        }
        let file = fs::metadata(link).ok()?;
        Some(Open::Removed { inode: file.ino(), bytes: file.blocks().saturating_mul(512) })
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
        let removed = fs::File::create_new(path("torch_1")).unwrap();
        removed.set_len(1).unwrap();
        fs::remove_file(path("torch_1")).unwrap();
        look(&opened, folder.path(), vec![std::process::id()]);
        check(&opened, 1);
        drop((file, removed));
        look(&opened, folder.path(), vec![std::process::id()]);
        check(&opened, 0);
    }

    /// Checks that one file has its name, and that some were removed while they are open.
    #[track_caller]
    fn check(opened: &Mutex<Opened>, removed: usize) {
        let opened = lock(opened);
        // The thread may have seen the other file before it was removed.
        let names: Vec<&str> = opened.names.iter().map(String::as_str).filter(|name| *name != "torch_1").collect();
        assert_eq!((names, opened.removed.len()), (vec!["psm_1"], removed));
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
