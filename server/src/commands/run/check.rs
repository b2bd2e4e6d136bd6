//! Implements `snapscope run --check`: which PyTorch a command would use, and whether the virtual GPU serves it.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shared::api::RunStatus;
use shared::job::Cards;

use super::super::output::Output;
use super::keep::Limits;
use super::launch::Launch;
use super::options::RunArgs;
use super::ran::document;
use super::{cards, verdict};
use crate::Failure;
use crate::commands::named::name_of;
use crate::config::ScriptConfig;
use crate::folder::make_temporary;

/// Program that names the versions and uses the virtual GPU once.
const PROBE: &str = include_str!("../../../python/run/probe.py");

/// Runs a small program with the Python of the command, or with `python3`.
pub(super) fn run(args: &RunArgs, config: &ScriptConfig, interrupted: &Arc<AtomicBool>) -> Result<Output, Failure> {
    let machine = cards::choose(args)?.into_iter().next().unwrap_or(Cards(Vec::new()));
    let python = args.command.first().filter(|program| is_python(program)).cloned().unwrap_or("python3".into());
    let command = [python, "-c".into(), PROBE.into()];
    let scratch = make_temporary("snapscope-run-", None).map_err(|error| Failure::temporary(&error))?;
    let limits = Limits { time: Duration::from_secs(300), is_time_asked: false, ..args.limits() };
    let output = scratch.path().join("check.pickle");
    let launch = Launch::of(config, &machine, &command, &output, limits);
    let launch = Launch { max_events: args.max_events, is_quiet: args.json, ..launch };
    let ran = verdict::judge(&machine, &launch.run(interrupted)?);
    if args.json {
        return Ok(document(vec![ran]).into());
    }
    let sentence = match (ran.status, ran.runs.first().and_then(|run| run.message.clone())) {
        (RunStatus::Fits, _) => "PyTorch sees the virtual GPU and records".to_owned(),
        (_, message) => message.unwrap_or_else(|| "PyTorch does not see the virtual GPU".to_owned()),
    };
    let gaps = ran.runs.iter().flat_map(|run| run.unsupported.iter()).map(|name| format!("not modeled: {name}\n"));
    let text = format!("{sentence}\n{}", gaps.collect::<String>());
    Ok(Output { status: ran.status.exit_status(), ..text.into() })
}

/// Returns true for `python`, `python3.11` and the like, with or without a folder.
fn is_python(program: &OsString) -> bool {
    let name = name_of(std::path::Path::new(program));
    name.starts_with("python") || name.starts_with("pypy")
}
