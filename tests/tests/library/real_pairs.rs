//! Tests how `./dev real` compares snapshots of real GPUs with those of the virtual GPU, and its list of pairs.

use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/real");

/// Compares two traces, each a text of actions and sizes, and returns what is found.
#[track_caller]
fn likeness(real: &str, virtual_: &str) -> String {
    let code = "
import sys
from likeness import compare
def snapshot(text):
    words = text.split()
    trace = [{'action': action, 'size': int(size)} for action, size in zip(words[::2], words[1::2])]
    return {'device_traces': [[], trace], 'segments': [{'device': 1, 'allocated_size': 10, 'total_size': 12}]}
found = compare(snapshot(sys.argv[1]), snapshot(sys.argv[2]))
print(found.events, found.prefix, found.is_equal, *found.peak, *found.reserved)
";
    printed(Command::new("python3").args(["-c", code, real, virtual_]).env("PYTHONPATH", FOLDER))
}

#[test]
fn events_are_compared_in_order_but_for_frees_of_one_moment() {
    let real = "alloc 4 alloc 8 free_requested 4 free_completed 4 alloc 2";
    assert_eq!(likeness(real, real), "5 5 True 12 12 12 12");
    let other = "alloc 4 alloc 8 free_requested 4 free_completed 4 alloc 3";
    assert_eq!(likeness(real, other), "5 4 False 12 11 12 12");
    assert_eq!(likeness("alloc 4", "alloc 4 alloc 8"), "1 0 False 10 10 12 12", "a trace that goes on is not equal");
    let real = "alloc 4 alloc 2 free_completed 4 free_completed 2 alloc 6";
    let other = "alloc 4 alloc 2 free_completed 2 free_completed 4 alloc 6";
    assert_eq!(likeness(real, other), "5 2 True 10 10 12 12");
    let later = "alloc 4 alloc 2 free_completed 2 alloc 6 free_completed 4";
    assert!(likeness(real, later).contains("False"));
}

#[test]
fn each_pair_says_all_that_is_needed() {
    let code = "
import tomllib, pathlib
from real import Pair
pairs = [Pair(**entry) for entry in tomllib.loads(pathlib.Path('pairs.toml').read_text())['pair']]
snapshots = [snapshot for pair in pairs for run in pair.runs() for snapshot in run.snapshots()]
assert all('{' not in run.run.replace('{out}', '') for pair in pairs for run in pair.runs())
assert all('{' not in real for real, _ in snapshots)
assert {pair.sure for pair in pairs} <= set('ABC')
print(len(snapshots))
";
    let mut command = Command::new("python3");
    assert_eq!(printed(command.args(["-c", code]).current_dir(FOLDER)), "61");
}

/// Returns what a command prints.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("python3 can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text").trim().to_owned()
}
