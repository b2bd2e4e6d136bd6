//! Takes torchrun out of a command, so that each rank can be started by itself.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::commands::named::name_of;

/// Modules that are what the program `torchrun` is.
const MODULES: [&str; 2] = ["torch.distributed.run", "torch.distributed.launch"];

/// Options of torchrun without a value; `-m` and `--no-python` say what follows them.
const FLAGS: [&str; 6] = ["standalone", "run-path", "virtual-local-rank", "use-env", "module", "no-python"];

/// Programs that start ranks in another way; the hook takes the place of those of accelerate and DeepSpeed.
const OTHERS: [&str; 4] = ["mpirun", "mpiexec", "srun", "ray"];

/// A command of one rank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Single {
    pub(super) command: Vec<OsString>,
    /// Ranks of a machine, if torchrun was told.
    pub(super) per_node: Option<u64>,
    /// True if torchrun was in the command.
    pub(super) is_changed: bool,
}

/// Returns the command that torchrun would start for each rank; `path` has the folders of programs.
///
/// # Errors
///
/// Returns an error if another program starts the ranks, or if torchrun has no script.
pub(super) fn single(command: &[OsString], path: Option<&OsStr>) -> Result<Single, Failure> {
    let Some(program) = command.first() else { return Err(no_script()) };
    let name = name_of(Path::new(program));
    let is_module = |names: &[&str]| {
        command.get(1).is_some_and(|word| word == "-m")
            && command.get(2).is_some_and(|module| names.iter().any(|name| module == name))
    };
    // As a module, DeepSpeed's runner is no import that the hook can wait for.
    if OTHERS.contains(&name.as_str()) || is_module(&["deepspeed.launcher.runner"]) {
        let message = format!("{name} starts ranks in a way of its own, which --world cannot take apart");
        return Err(Failure::new(message, "give the command of one rank, such as python train.py, which gets RANK"));
    }
    let (python, words) = match name.as_str() {
        "torchrun" => (interpreter(program, path), &command[1..]),
        _ if is_module(&MODULES) => (program.clone(), &command[3..]),
        _ => return Ok(Single { command: command.to_vec(), per_node: None, is_changed: false }),
    };
    without_options(python, words)
}

fn without_options(python: OsString, words: &[OsString]) -> Result<Single, Failure> {
    let (mut per_node, mut has_python, mut is_module) = (None, true, false);
    let mut words = words.iter();
    let script = loop {
        let word = words.next().ok_or_else(no_script)?;
        let text = word.to_string_lossy();
        let Some(option) = text.strip_prefix('-') else { break word };
        let option = option.trim_start_matches('-').replace('_', "-");
        let (option, value) = match option.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (option, None),
        };
        is_module |= matches!(option.as_str(), "m" | "module");
        has_python &= option != "no-python";
        if option == "m" || FLAGS.contains(&option.as_str()) {
            continue;
        }
        let value = value.or_else(|| words.next().map(|word| word.to_string_lossy().into_owned()));
        if option == "nproc-per-node" {
            per_node = value.and_then(|value| value.parse().ok());
        }
    };
    let mut command = Vec::new();
    if has_python {
        command.extend([python, "-u".into()]);
        command.extend(is_module.then(|| "-m".into()));
    }
    command.push(script.clone());
    command.extend(words.cloned());
    Ok(Single { command, per_node, is_changed: true })
}

fn no_script() -> Failure {
    Failure::new("torchrun has no script", "name one after its options, such as torchrun --nproc-per-node 8 train.py")
}

/// Returns the Python that the first line of `torchrun` names.
fn interpreter(torchrun: &OsStr, path: Option<&OsStr>) -> OsString {
    let named = || -> Option<OsString> {
        let mut line = [0; 512];
        let length = std::fs::File::open(found(torchrun, path)?).ok()?.read(&mut line).ok()?;
        let line = String::from_utf8_lossy(&line[..length]).lines().next()?.to_owned();
        let python = line.strip_prefix("#!")?.trim();
        python.contains("python").then(|| python.into())
    };
    named().unwrap_or_else(|| "python3".into())
}

/// Returns the file that a shell would start.
fn found(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.to_string_lossy().contains('/') {
        return Some(program.into());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: &str, per_node: Option<u64>) {
        let words: Vec<OsString> = words.split(' ').map(Into::into).collect();
        let single = single(&words, None).map_err(|error| error.to_string()).expect("a command");
        let command: Vec<_> = single.command.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!((command.join(" ").as_str(), single.per_node), (expected, per_node));
    }

    #[test]
    fn torchrun_and_its_options_are_left_out() {
        let module = "py -m torch.distributed.run --standalone --nproc-per-node 8 a.py --nnodes 3";
        check(module, "py -u a.py --nnodes 3", Some(8));
        check("py -m torch.distributed.run --nproc_per_node=gpu --rdzv-backend c10d a.py", "py -u a.py", None);
        check("py -m torch.distributed.run -r 3 --nnodes=2 -m pkg.train x", "py -u -m pkg.train x", None);
        check("/no/torchrun --no-python --nproc_per_node=4 ./run.sh", "./run.sh", Some(4));
        check("/no/torchrun a.py", "python3 -u a.py", None);
        check("py a.py --nproc-per-node 8", "py a.py --nproc-per-node 8", None);
        // What starts ranks by itself is refused.
        let refused = |words: &str| single(&words.split(' ').map(Into::into).collect::<Vec<_>>(), None).is_err();
        assert!(refused("mpirun -n 2 a.py") && refused("py -m deepspeed.launcher.runner a.py"));
        assert!(!refused("accelerate launch a.py") && !refused("py -m accelerate.commands.launch a.py"));
        assert!(refused("torchrun --nproc-per-node 8") && !refused("py accelerate"));
    }
}
