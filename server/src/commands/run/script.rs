//! A command that is run on machines in turn.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shared::job::Cards;

use super::launch::Launch;
use super::options::RunArgs;
use super::ran::Ran;
use super::verdict;
use super::world::World;
use crate::Failure;
use crate::commands::repro;
use crate::config::ScriptConfig;

/// What all runs of a command have in common.
pub(super) struct Script<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) config: &'a ScriptConfig,
    pub(super) interrupted: &'a Arc<AtomicBool>,
    /// Options of the hook that only some runs have.
    pub(super) hook_options: Vec<(String, serde_json::Value)>,
    /// True if the script runs on one machine only, whose snapshot then has the plain name.
    pub(super) is_one: bool,
}

impl Script<'_> {
    pub(super) fn run_on(&self, cards: &Cards) -> Result<Ran, Failure> {
        let output = self.output(cards);
        check_output(&output)?;
        let Some(world) = World::of(self.args, self.config)? else {
            let ended = self.launch(cards, &self.args.command, &output).run(self.interrupted)?;
            return Ok(verdict::judge(cards, &ended));
        };
        let (ranks, cards) = (world.variables(cards), world.cards(cards)?);
        let ended = Launch { ranks: &ranks, ..self.launch(&cards, world.command(), &output) }.run(self.interrupted)?;
        let mut ran = verdict::judge(&cards, &ended);
        ran.notes.insert(0, world.note());
        Ok(ran)
    }

    /// Returns the run of a command on a machine, with nothing changed but what the options say.
    fn launch<'a>(&'a self, cards: &'a Cards, command: &'a [OsString], output: &'a Path) -> Launch<'a> {
        Launch {
            steps: self.args.steps,
            max_events: self.args.max_events,
            assumptions: self.args.assumptions(),
            is_quiet: self.args.json || self.args.sandbox.is_some(),
            sandbox: self.args.sandbox.as_deref(),
            hook_options: &self.hook_options,
            ..Launch::of(self.config, cards, command, output, self.args.limits())
        }
    }

    /// Returns the snapshot file of a machine: with the cards in its name if there are several machines.
    fn output(&self, cards: &Cards) -> PathBuf {
        let output = self.args.output();
        if self.is_one {
            return output;
        }
        let name = cards.to_string().replace([' ', ':', ','], "-");
        let suffix = output.extension().map_or_else(String::new, |suffix| format!(".{}", suffix.to_string_lossy()));
        let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        output.parent().unwrap_or(Path::new("")).join(format!("{stem}.{name}{suffix}"))
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Refuses an output file that is something else than a snapshot, and a folder that cannot be written to.
fn check_output(output: &Path) -> Result<(), Failure> {
    repro::check_output(output)?;
    let folder = output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder).map(drop).map_err(|error| {
        let message = format!("the folder {} cannot be written: {error}", folder.display());
        Failure::new(message, "choose another file with --output")
    })
}
