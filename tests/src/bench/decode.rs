//! Decoding natively, beside CPython and beside the floor.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use shared::analysis::{Summary, Timeline};
use shared::import::Importer;

use super::process;
use crate::cpython;
use crate::opcode_scan::opcode_scan;

/// The word with which the benchmark starts itself to measure one decoding in a fresh process.
pub const CHILD: &str = "decode-in-this-process";

/// What one decoder took for one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall-clock seconds to decode.
    pub decode_s: f64,
    /// Wall-clock seconds to decode and to derive what the first picture needs.
    pub ready_s: f64,
    /// The highest resident memory of the process, in bytes.
    pub peak_bytes: u64,
}

/// What this project's decoder takes: the fastest of `runs` fresh processes.
///
/// # Panics
///
/// A process fails.
pub fn native(file: &Path, runs: usize) -> Cost {
    let run = || {
        let program = std::env::current_exe().expect("the path of this program");
        let output = Command::new(program).arg(CHILD).arg(file).output().expect("this program to start again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        parse(&String::from_utf8_lossy(&output.stdout))
    };
    fastest((0..runs).map(|_| run()))
}

/// What CPython's `pickle.load` takes: the fastest of `runs` fresh processes.
pub fn cpython(file: &Path, runs: usize) -> Cost {
    fastest((0..runs).map(|_| parse(&cpython::lines("load_time.py", [file])[0])))
}

/// Seconds for a bare walk over the opcodes of a file that is in memory.
///
/// # Panics
///
/// The file cannot be read or has other opcodes than snapshots.
pub fn floor_s(file: &Path, runs: usize) -> f64 {
    let bytes = std::fs::read(file).expect("the snapshot");
    let time = |_| {
        let start = Instant::now();
        assert!(opcode_scan(&bytes).expect("the opcodes of a snapshot") > 0);
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

/// Decodes a file in this process and prints its [`Cost`].
///
/// # Panics
///
/// The file cannot be read or is no snapshot.
pub fn child(file: &Path) {
    const CHUNK_BYTES: usize = 1 << 20;
    let start = Instant::now();
    let mut importer = Importer::new();
    let mut source = File::open(file).expect("the snapshot");
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let len = source.read(&mut chunk).expect("the snapshot");
        if len == 0 {
            break;
        }
        importer.push(&chunk[..len]).expect("a snapshot");
    }
    let trace = importer.finish().expect("a snapshot");
    let decode_s = start.elapsed().as_secs_f64();
    let device = &trace.devices[0];
    let timeline = Timeline::new(&trace, device);
    let summary = Summary::of(device, &timeline);
    let ready_s = start.elapsed().as_secs_f64();
    assert!(summary.peak_live_bytes > 0);
    let peak_bytes = process::peak_memory_bytes(std::process::id()).expect("Linux");
    println!("{decode_s} {ready_s} {peak_bytes}");
}

fn parse(line: &str) -> Cost {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |index: usize| words[index].parse::<f64>().expect("a number");
    Cost { decode_s: number(0), ready_s: number(1), peak_bytes: number(2) as u64 }
}

fn fastest(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.min_by(|a, b| a.decode_s.total_cmp(&b.decode_s)).expect("at least one run")
}
