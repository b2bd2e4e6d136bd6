//! Measures work on a file outside the browser, each task in a fresh process.
//!
//! The tasks are CPython's `pickle.load`, the command line, and parts of its work by themselves.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use shared::analysis::{FindingsConfig, ReplayConfig, Replayer, Summary, Timeline, default_settings, findings};
use shared::import::Importer;
use shared::trace::Trace;

use crate::opcode_scan::opcode_scan;
use testkit::cpython;
use testkit::process;

/// Time and memory of one process for one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub seconds: f64,
    /// Peak resident memory of the process in bytes; 0 if it ended before it was sampled.
    pub peak_bytes: u64,
}

/// Unit of work over one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    CPython,
    Scan,
    /// Decoding a file to the model, without any analysis.
    Decode,
    /// Decoding of bytes in memory, the same input as for [`Self::Scan`].
    DecodeBytes,
    /// Decoding, and the curves and the peak that the first picture needs.
    Ready,
    Findings,
    /// What-if replay of a trace in memory, with expandable segments.
    Replay,
    Inspect,
}

impl Task {
    /// All tasks with their names, in the order of the tables.
    const NAMES: [(Self, &str); 8] = [
        (Self::CPython, "CPython's pickle.load"),
        (Self::Scan, "bare walk over the opcodes"),
        (Self::DecodeBytes, "decoding bytes in memory"),
        (Self::Decode, "decoding to the model"),
        (Self::Ready, "decoding, curves and peak"),
        (Self::Findings, "all findings, of a decoded file"),
        (Self::Replay, "what-if replay, of a decoded file"),
        (Self::Inspect, "snapscope inspect"),
    ];

    pub fn all() -> [Self; 8] {
        Self::NAMES.map(|(task, _)| task)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(task, _)| *task == self).expect("all are there").1
    }

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

#[derive(Clone, Debug)]
pub struct Programs {
    pub snapscope: std::path::PathBuf,
    /// The benchmark program itself, which runs parts of the work in child processes.
    pub bench: std::path::PathBuf,
}

/// Argument with which the benchmark starts itself to measure one task in a fresh process.
pub const CHILD: &str = "task-in-this-process";

/// Runs the task called `name` in this process and prints its cost.
pub fn child(name: &str, file: &Path) {
    let task = Task::all().into_iter().find(|task| task.name() == name).expect("a task");
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
        Task::Replay => {
            let trace = decode(file);
            let timeline = Timeline::new(&trace, &trace.devices[0]);
            let replayer = Replayer::new(&trace, &trace.devices[0], &timeline.allocations);
            let settings = default_settings(&trace).and_then(|default| default.with_conf("expandable_segments:True"));
            let config = ReplayConfig::unlimited(settings.expect("valid settings"));
            timed(|| assert!(replayer.replay(&config).ooms.is_empty()))
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

/// Length of the pieces in which a file is read.
const CHUNK_BYTES: usize = 1 << 20;

pub(super) fn decode(file: &Path) -> Trace {
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

/// Parses a line of seconds, seconds and bytes, as `load_time.py` and [`child`] print it.
fn parse(line: &str) -> Cost {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |index: usize| words[index].parse::<f64>().expect("a number");
    Cost { seconds: number(0), peak_bytes: number(2) as u64 }
}
