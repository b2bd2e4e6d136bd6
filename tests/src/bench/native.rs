//! The same file natively, a fresh process each: CPython, the command line, and parts of the work by themselves.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use shared::analysis::{FindingsConfig, Summary, Timeline, findings};
use shared::import::Importer;
use shared::trace::Trace;

use super::process;
use crate::cpython;
use crate::opcode_scan::opcode_scan;

/// What one process took for one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// The highest resident memory of the process, in bytes; 0 where it was too short to be looked at.
    pub peak_bytes: u64,
}

/// A piece of work over one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// CPython's `pickle.load`.
    CPython,
    /// A bare walk over the opcodes of bytes that are in memory.
    Scan,
    /// Decoding to the model, without any analysis.
    Decode,
    /// The same of bytes that are in memory, as the walk has them.
    DecodeBytes,
    /// Decoding, and what the first picture needs.
    Ready,
    /// All findings, of a trace that is in memory.
    Findings,
    /// `snapscope inspect`, the process from its start to its end.
    Inspect,
}

impl Task {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 7] =
        [Self::CPython, Self::Scan, Self::DecodeBytes, Self::Decode, Self::Ready, Self::Findings, Self::Inspect];

    /// What the tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CPython => "CPython's pickle.load",
            Self::Scan => "bare walk over the opcodes",
            Self::DecodeBytes => "decoding bytes in memory",
            Self::Decode => "decoding to the model",
            Self::Ready => "decoding, curves and peak",
            Self::Findings => "all findings, of a decoded file",
            Self::Inspect => "snapscope inspect",
        }
    }

    /// Carries it out once.
    ///
    /// # Errors
    ///
    /// The process fails.
    pub fn run(self, programs: &Programs, file: &Path) -> Result<Cost, String> {
        match self {
            Self::CPython => Ok(parse(&cpython::lines("load_time.py", [file])[0])),
            Self::Inspect => inspect(&programs.snapscope, file),
            _ => {
                let child = Command::new(&programs.bench).args([CHILD, self.name()]).arg(file).output();
                let output = child.map_err(|error| error.to_string())?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                Ok(parse(&String::from_utf8_lossy(&output.stdout)))
            }
        }
    }
}

/// The programs that are measured.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `snapscope`.
    pub snapscope: std::path::PathBuf,
    /// The benchmark itself, which carries out parts of the work in processes of their own.
    pub bench: std::path::PathBuf,
}

/// The word with which the benchmark starts itself to measure one task in a fresh process.
pub const CHILD: &str = "task-in-this-process";

/// Carries out a task by its name in this process, and prints its cost.
///
/// # Panics
///
/// There is no such task, or the file is no snapshot.
pub fn child(name: &str, file: &Path) {
    let task = Task::ALL.into_iter().find(|task| task.name() == name).expect("a task");
    let seconds = match task {
        Task::Scan => {
            let bytes = std::fs::read(file).expect("the snapshot");
            timed(|| assert!(opcode_scan(&bytes).expect("the opcodes of a snapshot") > 0))
        }
        Task::DecodeBytes => {
            let bytes = std::fs::read(file).expect("the snapshot");
            timed(|| {
                let mut importer = Importer::new();
                bytes.chunks(CHUNK_BYTES).for_each(|chunk| importer.push(chunk).expect("a snapshot"));
                assert!(!importer.finish().expect("a snapshot").devices.is_empty());
            })
        }
        Task::Decode => timed(|| assert!(!decode(file).devices.is_empty())),
        Task::Ready => timed(|| {
            let trace = decode(file);
            let timeline = Timeline::new(&trace, &trace.devices[0]);
            assert!(Summary::of(&trace.devices[0], &timeline).peak_live_bytes > 0);
        }),
        Task::Findings => {
            let trace = decode(file);
            let timeline = Timeline::new(&trace, &trace.devices[0]);
            let devices = [(&trace.devices[0], &timeline)];
            timed(|| assert!(!findings(&trace, &devices, &FindingsConfig::default()).is_empty()))
        }
        Task::CPython | Task::Inspect => unreachable!("these are processes of other programs"),
    };
    println!("{seconds} {seconds} {}", process::peak_memory_bytes(std::process::id()).expect("Linux"));
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// A file is read in pieces of this length.
const CHUNK_BYTES: usize = 1 << 20;

fn decode(file: &Path) -> Trace {
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
    importer.finish().expect("a snapshot")
}

fn inspect(program: &Path, file: &Path) -> Result<Cost, String> {
    let (seconds, peak_bytes) = process::measure(Command::new(program).args(["inspect", "--json"]).arg(file))?;
    Ok(Cost { seconds, peak_bytes: peak_bytes.unwrap_or(0) })
}

/// Reads a line of seconds, seconds and bytes, as `load_time.py` and [`child`] print it.
fn parse(line: &str) -> Cost {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |index: usize| words[index].parse::<f64>().expect("a number");
    Cost { seconds: number(0), peak_bytes: number(2) as u64 }
}
