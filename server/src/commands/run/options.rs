//! Defines the options of `snapscope run`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::keep::{Limits, most_of_machine};
use super::launch::Assumptions;
use crate::units;

/// Time limit of a script without `--time`.
const MOST_TIME: Duration = Duration::from_secs(3600);

/// Where the weights of a script come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Weights {
    /// From nowhere: they have shapes and no values.
    Empty,
}

/// How the choices of a router are spread over its experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Routing {
    /// Each is chosen as often.
    Even,
    /// The share of the one in place n falls with 1 / n.
    Skewed,
    /// All choose the same ones.
    Worst,
}

/// The options of `snapscope run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// The virtual GPUs, such as h100-80gb, 8x h100-80gb or custom:48GiB [default: a100-80gb]
    #[arg(long, value_name = "CARD", conflicts_with_all = ["cards", "fit"])]
    pub(super) card: Option<String>,

    /// Run the script once on each of these, and print one table
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(super) cards: Vec<String>,

    /// Find the smallest card that holds the script, of --cards or of all known ones
    #[arg(long)]
    pub(super) fit: bool,

    /// Stop after this many optimizer steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) steps: Option<u64>,

    /// Stop after this time, such as 90s, 30min or 2h [default: 1h, as a limit]
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    time: Option<Duration>,

    /// The snapshot file to write [default: the script's name with .pickle, in the current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Also write the verdict as a picture for a page, such as fits.svg
    #[arg(long, value_name = "FILE")]
    pub(super) badge: Option<PathBuf>,

    /// Limit on the host memory of the script [default: nine tenths of this machine's]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    memory_limit: Option<u64>,

    /// Limit on what the script writes to the disk
    #[arg(long, value_name = "SIZE", default_value = "64GiB", value_parser = units::size)]
    disk_limit: u64,

    /// End generation of transformers after this many new tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    new_tokens: Option<u64>,

    /// Leave values that the GPU would compute at zero, instead of assuming balanced routing and a falling loss
    #[arg(long)]
    assume_nothing: bool,

    /// How the choices of a router are assumed to be spread over its experts: even, skewed or worst
    #[arg(long, value_name = "HOW", hide_possible_values = true, default_value = "even")]
    routing: Routing,

    /// Most events that the snapshot keeps of each GPU; older ones are lost, each takes about 1 KiB of host memory
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_events: u64,

    /// Run without the files of the weights, whose shapes then follow from configs and headers; the host keeps no values
    #[arg(long, value_name = "empty", hide_possible_values = true)]
    weights: Option<Weights>,

    /// Number of ranks of a distributed script, of which --ranks are started and the others answered for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) world: Option<u64>,

    /// The ranks to start, such as 0,7 [default: 0]
    #[arg(long, value_name = "R,…", value_delimiter = ',', requires = "world")]
    pub(super) ranks: Vec<u64>,

    /// Show which PyTorch the command uses, and whether the virtual GPU supports it
    #[arg(long)]
    pub(super) check: bool,

    /// What `snapscope fix` lets the hook change
    #[arg(long, hide = true, value_name = "JSON", value_parser = |text: &str| serde_json::from_str::<serde_json::Value>(text))]
    pub(super) change: Option<serde_json::Value>,

    /// Run the script behind walls that let it write in this folder alone, and print what a recorder would
    #[arg(long, hide = true, value_name = "DIR")]
    pub(super) sandbox: Option<PathBuf>,

    /// Print one JSON document; the script's own output goes to standard error
    #[arg(long)]
    pub(super) json: bool,

    /// The command, such as python train.py --config base.yaml
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "check")]
    pub(super) command: Vec<OsString>,
}

impl RunArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            time: self.time.unwrap_or(MOST_TIME),
            is_time_asked: self.time.is_some(),
            memory_bytes: self.memory_limit.unwrap_or_else(most_of_machine),
            disk_bytes: self.disk_limit,
        }
    }

    pub(super) fn assumptions(&self) -> Assumptions {
        Assumptions { is_any: !self.assume_nothing, new_tokens: self.new_tokens }
    }

    /// Returns the options of the hook that only some runs have.
    pub(super) fn hook_options(&self) -> Vec<(String, serde_json::Value)> {
        let own = [
            ("weights", self.weights.map(|Weights::Empty| "empty".into())),
            ("world", self.world.map(Into::into)),
            ("routing", self.routing.to_possible_value().map(|value| value.get_name().into())),
            ("sandbox", self.sandbox.as_ref().map(|_| true.into())),
        ];
        let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let change = self.change.iter().filter_map(|change| change.as_object()).flatten();
        own.chain(change.map(|(name, value)| (name.clone(), value.clone()))).collect()
    }

    /// Returns the snapshot file as asked for, or by the script's name.
    pub(super) fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let name = self.script();
            Path::new(name.strip_suffix(".py").unwrap_or(&name)).with_extension("pickle")
        })
    }

    /// Returns the name of the command's script.
    pub(super) fn script(&self) -> String {
        script_name(&self.command)
    }
}

/// Returns the file name of a command's script, or the name of the module after `-m`, or that of the program.
pub(in crate::commands) fn script_name(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let file = |word: &str| Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
    // After torchrun or accelerate launch, the script comes later than their own module.
    let script = words.iter().skip(1).find(|word| word.ends_with(".py")).and_then(|word| file(word));
    let module = words.iter().position(|word| word == "-m").and_then(|place| words.get(place + 1));
    let program = || words.first().and_then(|word| file(word)).unwrap_or_default();
    script.or_else(|| module.map(|module| module.replace('.', "-"))).unwrap_or_else(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        run: RunArgs,
    }

    #[track_caller]
    fn check(words: &[&str], script: &str, output: &str) {
        let cli = Cli::try_parse_from(["run"].iter().chain(words)).map_err(|error| error.to_string()).unwrap();
        assert_eq!((cli.run.script().as_str(), cli.run.output().to_str()), (script, Some(output)));
    }

    #[test]
    fn the_snapshot_is_named_by_the_script() {
        check(&["--", "python", "src/train.py", "--config", "base.yaml"], "train.py", "train.pickle");
        check(&["--", "python", "-m", "pkg.train"], "pkg-train", "pkg-train.pickle");
        check(&["--", "python", "-m", "torch.distributed.run", "a.py"], "a.py", "a.pickle");
        check(&["--", "/usr/bin/bash"], "bash", "bash.pickle");
        check(&["-o", "x/y.pickle", "--", "python", "a.py"], "a.py", "x/y.pickle");
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let refused = |words: &[&str]| Cli::try_parse_from(["run"].iter().chain(words)).is_err();
        assert!(refused(&["--card", "t4-16gb", "--cards", "l4-24gb", "--", "python"]));
        assert!(refused(&["--steps", "0", "--", "python"]) && refused(&[]) && !refused(&["--check"]));
    }
}
