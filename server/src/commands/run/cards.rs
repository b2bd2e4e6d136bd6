//! Chooses the cards of `snapscope run`: one machine, several in turn, or the smallest that holds the script.

use shared::api::RunStatus;
use shared::job::{Card, Cards};

use super::options::RunArgs;
use super::ran::{Ran, capacity};
use super::script::Script;
use crate::Failure;

/// Returns the machines to run on, in order.
pub(super) fn choose(args: &RunArgs) -> Result<Vec<Cards>, Failure> {
    if !args.cards.is_empty() {
        return args.cards.iter().map(|text| read(text)).collect();
    }
    if args.fit {
        return Ok(Card::all().map(|card| Cards(vec![card])).collect());
    }
    Ok(vec![read(&args.card.clone().unwrap_or_else(|| Card::default().name))?])
}

pub(in crate::commands) fn read(text: &str) -> Result<Cards, Failure> {
    Cards::parse(text).map_err(|error| Failure::new(error.to_string(), "`snapscope cards` lists them"))
}

/// Runs the script on each machine; ends early after an interrupt.
pub(super) fn each(script: &Script<'_>, machines: &[Cards]) -> Result<Vec<Ran>, Failure> {
    let mut found = Vec::new();
    for cards in machines {
        found.push(script.run_on(cards)?);
        if script.is_interrupted() {
            break;
        }
    }
    Ok(found)
}

/// Runs the script on the largest machine, then on those that its peak fits in, the smallest first, until one holds it.
pub(super) fn smallest(script: &Script<'_>, machines: &[Cards]) -> Result<Vec<Ran>, Failure> {
    let mut machines = machines.to_vec();
    machines.sort_by_key(capacity);
    let Some(largest) = machines.pop() else { return Ok(Vec::new()) };
    let mut found = vec![script.run_on(&largest)?];
    if found[0].status != RunStatus::Fits {
        return Ok(found);
    }
    let live = found[0].runs.iter().map(|run| run.peak_live_bytes).max().unwrap_or(0);
    for cards in machines.iter().filter(|cards| capacity(cards) > live) {
        if script.is_interrupted() {
            break;
        }
        found.push(script.run_on(cards)?);
        if found.last().is_some_and(|ran| ran.status == RunStatus::Fits) {
            break;
        }
    }
    found.sort_by_key(|ran| capacity(&ran.cards));
    Ok(found)
}

/// Returns the first run that fits, which with `--fit` is that on the smallest card, or else the last one.
pub(super) fn chosen(found: &[Ran]) -> Option<&Ran> {
    found.iter().find(|ran| ran.status == RunStatus::Fits).or(found.last())
}
