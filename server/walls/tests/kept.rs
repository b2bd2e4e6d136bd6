//! Tests that rules for a process's own folder in `/proc` last; alone in its process, because rules keep names alive.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use walls::Walls;

#[test]
fn a_driver_names_threads_after_the_kernel_has_forgotten_their_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let walls = Walls::of_recorder(folder.path(), true);
    let ((ask, asked), (answer, answered)) = (channel::<()>(), channel());
    let driver = thread::spawn(move || {
        assert_eq!(walls.raise(), [""; 0], "this kernel is too old for these tests");
        let thread = rustix::thread::gettid().as_raw_pid();
        for () in asked {
            answer.send(fs::write(format!("/proc/self/task/{thread}/comm"), "cuda-EvtHandlr")).expect("a listener");
        }
    });
    let rename = || {
        ask.send(()).expect("it listens");
        answered.recv().expect("an answer")
    };
    rename().expect("it may");
    // Only root can make the kernel drop what it has cached. The descriptor that prevents it is there for everybody.
    let _ = fs::write("/proc/sys/vm/drop_caches", "2");
    rename().expect("it still may");
    let is_task = |path: &Path| path.starts_with("/proc") && path.ends_with("task");
    let mut descriptors = fs::read_dir("/proc/self/fd").expect("its own").flatten();
    assert!(descriptors.any(|entry| fs::read_link(entry.path()).is_ok_and(|path| is_task(&path))));
    drop(ask);
    driver.join().expect("it ends");
}
