//! The binary `snapscope-recorder`: runs a training job on libtorch, and writes the snapshot of its allocator.
//!
//! It reads the job from standard input and prints lines of JSON.
//! Every allocation knows its [`place`]: step, phase, module and operation. On a machine without a GPU the same code
//! runs on the virtual GPU; nothing in this crate depends on which one it is.
//!
//! It is a process of its own, because libtorch can abort, hang or exhaust memory. Its models follow a Python
//! implementation operation by operation.
//! Weights are initialized on the device, in place: this gives Python's order of allocations without Python's copy in
//! host memory.
//!
//! Invariant: a recording does not depend on whether its GPU is virtual, only the sandbox does; the recorder's own
//! functions appear in no stack.

#[macro_use]
pub mod shim;

pub mod builder;
pub mod data;
pub mod history;
pub mod model;
pub mod numbers;
pub mod optimizer;
pub mod parallel;
pub mod pass;
pub mod place;
pub mod report;
pub mod run;
mod saving;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use place::Failure;
use report::{Now, Reporter};
use run::{Run, Stop, device_index};
use shared::api::{Failed, RecorderLine};
use shared::job::{Format, Job, RawJob};
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use walls::Walls;

const USAGE: &str = "usage: snapscope-recorder --output FILE < JOB.json";

/// Result of a libtorch operation: its value, or the message of its exception, most often that memory ran out.
type Result<T> = std::result::Result<T, tch::TchError>;

/// Exit status of a failed run; its last output line gives the reason.
const FAILED: u8 = 3;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            Reporter::say(&RecorderLine::Failed(failed));
            ExitCode::from(FAILED)
        }
    }
}

fn run() -> std::result::Result<(), Failed> {
    let output = output_argument().ok_or_else(|| before_start(USAGE.to_owned()))?;
    end_with_parent();
    raise_walls(&output);
    let job = read_job().map_err(before_start)?;
    let device = device_index(&job.device);
    write_down_when_terminated(device, output.clone());
    let mut run = Run::new(&job, device, Reporter::new(device, &output));
    run.record().map_err(|stop| {
        let message = match stop {
            Stop::Failed(message) => message,
            Stop::Output(error) => format!("the snapshot could not be written to {}: {error}", output.display()),
        };
        let Failure { phase, module } = Failure::first();
        Failed { message, step: Now::get().step, phase: phase.to_string(), module }
    })
}

/// Makes the kernel kill this process if its parent dies without ending it.
///
/// The parent may already have died while libtorch was loaded, so its process id is compared with `SNAPSCOPE_KEEPER`.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        let keeper = std::env::var("SNAPSCOPE_KEEPER").ok().and_then(|id| id.parse().ok());
        if keeper.is_some_and(|keeper: i32| keeper != Pid::as_raw(getppid())) {
            std::process::exit(1);
        }
    }
}

/// Drops all permissions that no recording needs, before any input is read and any thread is started.
///
/// What remains: reading libraries and the machine's settings, writing the folder of the output, and, on a real GPU,
/// what its driver needs. The supervisor sets `SNAPSCOPE_VIRTUAL_GPU` for virtual GPUs.
fn raise_walls(output: &Path) {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let has_driver = std::env::var_os("SNAPSCOPE_VIRTUAL_GPU").is_none();
    if has_driver {
        shim::load_driver();
    }
    for lack in Walls::of_recorder(folder, has_driver).raise() {
        eprintln!("{lack}");
    }
}

fn before_start(message: String) -> Failed {
    Failed { message, step: None, phase: "start".to_owned(), module: String::new() }
}

fn output_argument() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == "--output").then(|| arguments.next().map(PathBuf::from))?
}

fn read_job() -> std::result::Result<Job, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("the job cannot be read: {error}"))?;
    RawJob::parse(&text, Format::Json).and_then(RawJob::resolve).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    })
}

/// Starts a thread that writes a partial snapshot and exits when the process receives SIGTERM.
fn write_down_when_terminated(device: u32, output: PathBuf) {
    let Ok(mut signals) = Signals::new([SIGTERM]) else { return };
    thread::spawn(move || {
        if signals.forever().next().is_none() {
            return;
        }
        let _ = Reporter::new(device, &output).write(true);
        let now = Now::get();
        Reporter::say(&RecorderLine::Failed(Failed {
            message: "the run was stopped from outside".to_owned(),
            step: now.step,
            phase: now.phase.to_string(),
            module: String::new(),
        }));
        std::process::exit(i32::from(FAILED));
    });
}
