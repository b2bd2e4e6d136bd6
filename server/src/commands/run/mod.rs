//! Implements `snapscope run`, which runs any Python script on virtual GPUs and says whether it fits.
//!
//! It starts the script with the virtual GPU and the hook (`server/python/run/`), enforces limits, and judges what its
//! processes reported.
//! Each process writes its facts to a file of the run's private folder and its snapshot to the final place, so that
//! whatever is killed, the last ones are left. A pipe that ends tells the processes to stop.
//!
//! Invariant: nothing that a script started is left running, and nothing is installed into the user's environment.

mod cards;
mod check;
mod children;
mod folder;
mod keep;
mod launch;
mod log;
mod options;
mod page;
mod processes;
mod ran;
mod reported;
mod sandbox;
mod script;
mod sharing;
mod torchrun;
mod trial;
mod verdict;
mod world;

use shared::api::RunStatus;

use super::output::{self, Output};
use crate::Failure;
use crate::config::ScriptConfig;
use ran::document;
use script::Script;

pub(super) use cards::read as read_cards;
pub(super) use launch::{check_platform, shown};
pub use options::RunArgs;
pub(super) use options::script_name;
pub(super) use page::badge;
pub(super) use ran::{overall, weight};
pub use sandbox::BehindWallsArgs;
pub(super) use sharing::Shared;
pub(super) use trial::Trials;
pub(super) use verdict::KILLED;
pub(super) use verdict::out_of_memory;

impl RunArgs {
    /// Runs the script on each card and returns the verdict.
    pub fn run(&self) -> Result<Output, Failure> {
        launch::check_platform()?;
        let config = ScriptConfig::from_environment()?;
        if let Some(folder) = &self.sandbox {
            sandbox::supervise(folder, &config, &self.command)?;
        }
        let interrupted = super::repro::progress::interrupted();
        if self.check {
            return check::run(self, &config, &interrupted);
        }
        let machines = cards::choose(self)?;
        if self.sandbox.is_some() {
            sandbox::tell_start(&machines[0], self.steps);
        }
        let hook_options = self.hook_options();
        let is_one = machines.len() == 1;
        let script = Script { args: self, config: &config, interrupted: &interrupted, hook_options, is_one };
        let found = if self.fit { cards::smallest(&script, &machines)? } else { cards::each(&script, &machines)? };
        let status = found.iter().map(|ran| ran.status).max_by_key(|status| weight(*status));
        let of_fit = || cards::chosen(&found).map(|ran| ran.status);
        let status = if self.fit { of_fit() } else { status }.unwrap_or(RunStatus::Failed);
        if let (Some(file), Some(run)) = (&self.badge, cards::chosen(&found).and_then(page::decisive)) {
            output::write(file, &badge(run))?;
        }
        let text = match &self.sandbox {
            Some(_) => sandbox::lines(&found),
            None if self.json => document(found),
            None => page::all(self, &found),
        };
        Ok(Output { status: status.exit_status(), ..text.into() })
    }
}
