//! Runs a script from strangers for a server: behind walls, with the lines of a recorder in place of a verdict.
//!
//! Two processes have walls. This one starts the script and reads what it leaves; the script's own can start no others.
//! Both read the installation of Python, the virtual GPU and the system's libraries, and write the folder of the job.
//!
//! Invariant: where a wall is missing, the script does not start.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use shared::api::{Failed, Finished, Message, OutOfMemory, RecorderLine, RunReport, RunStatus, Started};
use shared::job::Cards;
use walls::Walls;

use super::ran::{Ran, capacity};
use crate::Failure;
use crate::config::ScriptConfig;

/// Hidden subcommand in whose place the script's interpreter runs.
const BEHIND_WALLS: &str = "behind-walls";

/// Most threads and processes that the user of the script may have, so that it leaves others room.
const MOST_THREADS: u64 = 4096;

/// Raises the walls of the process that starts the script; call it before a thread is started.
///
/// # Errors
///
/// Returns an error if this machine lacks one of the walls.
pub(super) fn supervise(folder: &Path, config: &ScriptConfig, command: &[OsString]) -> Result<(), Failure> {
    // It ends the script in order if the server dies.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    raise(folder, command, std::slice::from_ref(&config.virtual_gpu), true)
}

fn raise(folder: &Path, command: &[OsString], read: &[PathBuf], is_supervisor: bool) -> Result<(), Failure> {
    let python = command.first().map(PathBuf::from).unwrap_or_default();
    let walls = Walls::of_script(folder, &python, read, is_supervisor);
    let walls = walls.map_err(|message| Failure::new(message, "name another with --scripts"))?;
    match walls.raise().first() {
        None => Ok(()),
        Some(lack) => Err(Failure::new(
            format!("scripts cannot run on this machine, which has no sandbox for them: {lack}"),
            "use Linux 6.2 or newer with Landlock and seccomp, also inside of a container",
        )),
    }
}

/// Returns the command that raises the script's walls and runs it in its place.
pub(super) fn behind_walls(folder: &Path, config: &ScriptConfig, command: &[OsString]) -> Vec<OsString> {
    let own: [OsString; 5] = [
        config.program.clone().into(),
        BEHIND_WALLS.into(),
        folder.into(),
        config.virtual_gpu.clone().into(),
        "--".into(),
    ];
    [&own, command].concat()
}

/// The arguments of the hidden subcommand.
#[derive(Debug, Clone, Args)]
pub struct BehindWallsArgs {
    /// Folder in which the script may write
    folder: PathBuf,
    /// Folder that it may read besides
    read: PathBuf,
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl BehindWallsArgs {
    /// Runs the command in place of this process; returns only an error.
    pub fn run(&self) -> Failure {
        // The supervisor ends the script; this is for its own sudden end.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        if let Err(failure) = raise(&self.folder, &self.command, std::slice::from_ref(&self.read), false) {
            return failure;
        }
        // Threads are all that it can start. Root has no such limit.
        let _ = setrlimit(Resource::Nproc, Rlimit { current: Some(MOST_THREADS), maximum: Some(MOST_THREADS) });
        let (program, arguments) = self.command.split_first().expect("clap asks for a command");
        // What libraries cache in the home folder goes to the folder of the job, and what the script writes beside itself.
        let beside = arguments.last().and_then(|script| Path::new(script).parent()).unwrap_or(&self.folder);
        let error = Command::new(program).args(arguments).env("HOME", &self.folder).current_dir(beside).exec();
        Failure::new(format!("{}: {error}", program.display()), "name another Python with --scripts")
    }
}

/// Says what the recorder would say at its start.
pub(super) fn tell_start(cards: &Cards, steps: Option<u64>) {
    let (device, memory_bytes) = (cards.to_string(), capacity(cards));
    let started = Started { device, memory_bytes, parameters: 0, steps: steps.unwrap_or(0) };
    print!("{}", line(&RecorderLine::Started(started)));
}

fn line(line: &RecorderLine) -> String {
    serde_json::to_string(line).expect("plain data can be written") + "\n"
}

/// Returns what the recorder would say of such a run, a line of JSON each.
pub(super) fn lines(found: &[Ran]) -> String {
    let notes = found.iter().flat_map(|ran| ran.notes.iter().chain(&ran.uncounted).chain(&ran.failures));
    let notes = notes.map(|text| RecorderLine::Message(Message { text: text.clone() }));
    // A script here is one process.
    let run = found.iter().flat_map(|ran| &ran.runs).max_by_key(|run| run.peak_reserved_bytes);
    notes.chain(run.map(end)).map(|one| line(&one)).collect()
}

fn end(run: &RunReport) -> RecorderLine {
    let message = run.message.clone().unwrap_or_default();
    let oom = match run.status {
        RunStatus::Fits => None,
        RunStatus::OutOfMemory => Some(OutOfMemory {
            message,
            step: run.ooms.last().map(|oom| oom.steps),
            phase: String::new(),
            module: String::new(),
            operation: String::new(),
        }),
        RunStatus::Failed | RunStatus::Unsupported => {
            let (step, phase, module) = ((run.steps > 0).then_some(run.steps), String::new(), String::new());
            return RecorderLine::Failed(Failed { message, step, phase, module });
        }
    };
    RecorderLine::Finished(Finished {
        steps: run.steps,
        peak_allocated_bytes: run.peak_allocated_bytes,
        peak_reserved_bytes: run.peak_reserved_bytes,
        oom,
    })
}
