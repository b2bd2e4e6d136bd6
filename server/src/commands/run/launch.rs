//! Starts the script with the virtual GPU and the hook, and waits for its end.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use serde_json::json;
use shared::job::Cards;
use shared::report::LogReport;

use super::children::Children;
use super::folder::Folder;
use super::keep::{End, Limits, keep};
use super::log::{self, Logged};
use super::processes::Processes;
use super::reported::{self, Reported};
use super::sandbox;
use crate::Failure;
use crate::config::ScriptConfig;

/// What is assumed about values that a GPU would compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assumptions {
    /// True if anything is assumed at all.
    pub(super) is_any: bool,
    /// Number of tokens after which a generation ends.
    pub(super) new_tokens: Option<u64>,
}

pub(super) type Variables = Vec<(OsString, OsString)>;

/// A run of a command on virtual GPUs.
pub(super) struct Launch<'a> {
    pub(super) config: &'a ScriptConfig,
    pub(super) cards: &'a Cards,
    pub(super) command: &'a [OsString],
    /// Snapshot file; with several ranks or processes, the others get numbers.
    pub(super) output: &'a Path,
    pub(super) steps: Option<u64>,
    /// Most events in the history of a device.
    pub(super) max_events: u64,
    pub(super) limits: Limits,
    pub(super) assumptions: Assumptions,
    /// True if standard output is for the command's own document.
    pub(super) is_quiet: bool,
    /// The only folder in which the script may write, if it comes from strangers.
    pub(super) sandbox: Option<&'a Path>,
    /// File for all that the command prints, in place of this process's own output.
    pub(super) said: Option<&'a File>,
    /// Variables of each process, if the command is started more than once; the first runs alone.
    pub(super) ranks: &'a [Variables],
    /// Options of the hook beside those that follow from the fields above.
    pub(super) hook_options: &'a [(String, serde_json::Value)],
    /// Process below this one that forks for several runs.
    pub(super) aside: Option<u32>,
}

/// A run that has ended, with what its processes reported.
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) processes: Vec<Reported>,
    pub(super) logged: Logged,
    /// What an inference engine logged of its start.
    pub(super) engine: Option<Box<LogReport>>,
}

/// Refuses platforms without wheels that the virtual GPU can serve.
pub(in crate::commands) fn check_platform() -> Result<(), Failure> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Ok(());
    }
    let message =
        "the virtual GPU serves PyTorch's wheels for Linux with glibc on x86-64, and this is another platform";
    Err(Failure::new(message, "run the command on such a machine, or in a container of it"))
}

impl<'a> Launch<'a> {
    /// Returns a quiet run of a command as it is, which takes one event of the history.
    pub(super) fn of(
        config: &'a ScriptConfig,
        cards: &'a Cards,
        command: &'a [OsString],
        output: &'a Path,
        limits: Limits,
    ) -> Self {
        Self {
            config,
            cards,
            command,
            output,
            steps: None,
            max_events: 1,
            limits,
            assumptions: Assumptions { is_any: true, new_tokens: None },
            is_quiet: true,
            sandbox: None,
            said: None,
            ranks: &[],
            hook_options: &[],
            aside: None,
        }
    }

    /// Runs the command to its end; nothing that it started is left running.
    pub(super) fn run(&self, interrupted: &AtomicBool) -> Result<Ended, Failure> {
        self.config.check()?;
        let mut folder = Folder::make(&self.options()).map_err(no_folder)?;
        let stand_ins = self.config.stand_ins(&folder.path().join("virtual-gpu")).map_err(no_folder)?;
        let children = self.start(&folder, &stand_ins)?;
        // The hook leaves there the number of a fork that runs the script in place of the command's own process.
        let processes = Processes::adopt(folder.path().join("fork"), self.aside);
        let end = keep(children, processes, &mut folder, &self.limits, interrupted);
        let processes = reported::read(folder.path());
        let logged = log::read(&folder.log());
        // Inference engines append there what they log.
        let engine = log::read_engine(&folder.path().join("engine.log"));
        Ok(Ended { end, processes, logged, engine })
    }

    fn options(&self) -> serde_json::Value {
        let output = std::path::absolute(self.output).unwrap_or_else(|_| self.output.to_owned());
        let mut options = json!({
            "output": output,
            "steps": self.steps,
            "max_events": self.max_events,
            "assume": self.assumptions.is_any,
            "new_tokens": self.assumptions.new_tokens,
        });
        options.as_object_mut().expect("made as an object").extend(self.hook_options.iter().cloned());
        options
    }

    fn start(&self, folder: &Folder, stand_ins: &Path) -> Result<Children, Failure> {
        let of_rank = |rank: &Variables| self.command(folder, stand_ins, rank);
        let mut commands: VecDeque<Command> = self.ranks.iter().map(of_rank).collect();
        let first = commands.pop_front().unwrap_or_else(|| of_rank(&Variables::new()));
        Children::start(first, commands).map_err(|error| Failure::starting(&self.command[0].display(), &error))
    }

    fn command(&self, folder: &Folder, stand_ins: &Path, rank: &Variables) -> Command {
        let walled = self.sandbox.map(|folder| sandbox::behind_walls(folder, self.config, self.command));
        let words = walled.as_deref().unwrap_or(self.command);
        let (program, arguments) = words.split_first().expect("clap asks for a command");
        let mut command = Command::new(program);
        let variables = self.environment(folder, stand_ins).into_iter().chain(rank.iter().cloned());
        command.args(self.arguments(arguments, folder)).envs(variables).process_group(0);
        if self.is_quiet {
            let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from);
            command.stdout(stderr);
        }
        if let Some(said) = self.said {
            let copy = || said.try_clone().map_or_else(|_| Stdio::null(), Stdio::from);
            command.stdin(Stdio::null()).stdout(copy()).stderr(copy());
        }
        // Outside the terminal's foreground group, a process that reads from the terminal would be stopped.
        if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
            command.stdin(Stdio::null());
        }
        command
    }

    /// Returns the arguments; a script that gets another size is run by a program that changes its constants, and one
    /// whose runs share an import by a program that waits for them.
    fn arguments(&self, arguments: &[OsString], folder: &Folder) -> Vec<OsString> {
        let option = |wanted: &str| self.hook_options.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        let remedies = option("remedies").and_then(|list| list.as_array());
        let is_size = |name: &str| name.contains("batch-") || name.starts_with("length-");
        let is_one = |name: &serde_json::Value| name.as_str().is_some_and(is_size);
        let script = arguments.iter().position(|word| word.as_encoded_bytes().ends_with(b".py"));
        let mut arguments = arguments.to_vec();
        let is_run_so = option("serve").is_some() || remedies.is_some_and(|names| names.iter().any(is_one));
        if let Some(place) = script.filter(|_| is_run_so) {
            arguments.insert(place, folder.hook().join("snapscope_run/remedies/main.py").into());
        }
        arguments
    }

    /// Returns the variables that make the script see the virtual GPUs, in addition to the user's own.
    fn environment(&self, folder: &Folder, stand_ins: &Path) -> Vec<(OsString, OsString)> {
        let config = self.config;
        let both = |name: &str, value: &OsStr| (name.into(), config.before_own(value, name));
        let mut variables: Vec<(OsString, OsString)> = vec![
            both("PYTHONPATH", folder.hook().as_os_str()),
            both("GLIBC_TUNABLES", OsStr::new(TUNABLES)),
            ("SNAPSCOPE_VIRTUAL_GPU".into(), self.cards.to_string().into()),
            ("SNAPSCOPE_VIRTUAL_GPU_LOG".into(), folder.log().into()),
            ("SNAPSCOPE_VIRTUAL_GPU_FOLDER".into(), stand_ins.into()),
            // Triton asks ldconfig, which does not know the stand-ins.
            ("TRITON_LIBCUDA_PATH".into(), stand_ins.into()),
        ];
        if config.own("SNAPSCOPE_VIRTUAL_GPU_VALUES").is_none() {
            // What a script copied to the device can then be read back; checks between ranks need it.
            variables.push(("SNAPSCOPE_VIRTUAL_GPU_VALUES".into(), "shadow".into()));
        }
        if config.own("PATH").is_some() {
            // nvidia-smi of the virtual GPU comes before any other.
            variables.push(both("PATH", stand_ins.join("bin").as_os_str()));
        }
        variables.push(match config.audit() {
            Some(audit) => both("LD_AUDIT", audit.as_os_str()),
            None => both("LD_LIBRARY_PATH", stand_ins.as_os_str()),
        });
        variables
    }
}

fn no_folder(error: std::io::Error) -> Failure {
    Failure::new(format!("a folder for the run cannot be made: {error}"), "set TMPDIR to a folder with room")
}

/// Settings of glibc's allocator, because a history of memory takes a kilobyte of the heap per event.
///
/// With huge pages, and with more memory from the system at a time, a loop of small allocations has a twelfth of the page
/// faults.
const TUNABLES: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";

/// Formats the place of a line of the user's: ` at train.py:7`, or nothing if it is not known.
pub(super) fn place(file: Option<&str>, line: Option<u64>) -> String {
    file.zip(line).map_or_else(String::new, |(file, line)| format!(" at {}:{line}", shown(file)))
}

/// Shortens a path to one from the current folder, if it is below it.
pub(in crate::commands) fn shown(path: &str) -> String {
    let below = std::path::absolute(".").ok().and_then(|folder| {
        let below = Path::new(path).strip_prefix(folder).ok()?;
        Some(below.display().to_string())
    });
    below.unwrap_or_else(|| path.to_owned())
}
