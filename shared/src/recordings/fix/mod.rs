//! Tells what makes a training fit a card: the answer first, then a row for each remedy that was tried.
//!
//! The command line, the page of a job and the files of `snapscope fix` show the same sentences.

mod curves;
mod page;
mod smallest;

pub use curves::{Curves, svg};
pub use page::html;
pub use smallest::{Together, smallest_set};

use std::cmp::Reverse;

use super::table::Table;
use crate::api::{FixCost, FixCostClass, FixFigures, FixRemedy, FixReport};
use crate::base::format::{bytes, count};
use crate::job::Card;

/// Cell that stands above the remedies that change the mathematics.
const MATHEMATICS: &str = "changing the mathematics:";

/// Caveat of figures above the card's memory that fit.
const GIVES_BACK: &str = "peaks are those on a larger card; on this one, what reserves more than it has can fit, since \
                          PyTorch's allocator gives back what it holds without need";

/// Caveat of an answer that came before all remedies were tried.
pub const INTERRUPTED: &str = "interrupted: this is what was known until then";

/// Returns the answer in one sentence: `It needs 21.0 GiB and t4-16gb has 14.4 GiB: with checkpoint it fits, 11.2 GiB`.
pub fn answer(report: &FixReport) -> String {
    let FixReport { baseline, card, together, .. } = report;
    let needed = match baseline.fits {
        // What is reserved on a large card can be more than what the training needs.
        true => baseline.peak_reserved_bytes.min(report.capacity_bytes),
        false => baseline.peak_reserved_bytes,
    };
    let needs = format!("It needs {} and {card} has {}", bytes(needed), bytes(report.capacity_bytes));
    let batch = report.largest_batch.map_or_else(String::new, |batch| format!("; largest batch {}", count(batch)));
    // With the margin that remedies have to leave.
    let has_room = |card: &Card| card.capacity_bytes() / 32 * 31 >= needed;
    let larger = Card::named(card).ok().and_then(|_| Card::all().find(has_room));
    let larger = larger.map_or_else(String::new, |card| format!("; as it is, {} has room", card.name));
    let smaller = report.largest_batch.filter(|_| report.smallest_set.is_empty());
    let smaller = smaller.map_or_else(String::new, |batch| format!("; a batch of {} fits", count(batch)));
    match together {
        _ if baseline.fits => format!("{needs}: it fits as it is{batch}"),
        Some(all) if !report.smallest_set.is_empty() => {
            let names = listed(&report.smallest_set);
            // Those that change the mathematics are taken only if nothing else is enough, however slow that is.
            let is_faster = |remedy: &&FixRemedy| {
                remedy.figures.fits && remedy.changes.is_some() && remedy.cost.class < all.cost.class
            };
            let is_slow = all.changes.is_none() && all.cost.class >= FixCostClass::Moderate;
            let faster = report.remedies.iter().filter(|_| is_slow).filter(is_faster);
            let faster = faster.min_by_key(|remedy| (remedy.cost.class, Reverse(remedy.saves_bytes)));
            let faster = faster
                .map_or_else(String::new, |remedy| format!("; {} is faster, and changes the mathematics", remedy.name));
            format!("{needs}: with {names} it fits, {}{batch}{faster}", bytes(all.figures.peak_reserved_bytes))
        }
        Some(all) => {
            let least = bytes(all.figures.peak_reserved_bytes);
            format!("{needs}: nothing that was tried makes it fit; with {} it takes {least}{smaller}{larger}", all.name)
        }
        None => match report.remedies.iter().find(|remedy| remedy.figures.fits) {
            // Interrupted before the run on the card itself.
            Some(remedy) => format!("{needs}: with {} it should fit, by a run on a larger card", remedy.name),
            None if report.remedies.is_empty() && report.left_out.is_empty() => format!("{needs}: no remedy was tried"),
            None if report.notes.iter().any(|note| note == INTERRUPTED) => {
                format!("{needs}: nothing that was tried before the interrupt makes it fit")
            }
            None => format!("{needs}: nothing that was tried makes it fit{smaller}{larger}"),
        },
    }
}

/// Joins names by commas and the last one by `and`.
fn listed(names: &[String]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.concat(),
    }
}

/// Builds the table of the remedies, with the training as it is in the first row.
///
/// Remedies that change the mathematics stand below a row of one cell.
pub fn table(report: &FixReport) -> Table {
    let head = ["remedy", "peak live", "peak reserved", "saves", "fits", "costs"];
    let row = |name: &str, of: &FixFigures, saves: String, costs: String| {
        let fits = if of.fits { "yes" } else { "no" }.to_owned();
        vec![name.to_owned(), bytes(of.peak_live_bytes), bytes(of.peak_reserved_bytes), saves, fits, costs]
    };
    let remedy = |remedy: &FixRemedy| {
        let slowdown = slowdown(&remedy.cost);
        let costs =
            remedy.changes.as_ref().map_or(slowdown.clone(), |changes| format!("{changes}; slowdown: {slowdown}"));
        row(&remedy.name, &remedy.figures, bytes(remedy.saves_bytes), costs)
    };
    let (exact, others): (Vec<_>, Vec<_>) = report.remedies.iter().partition(|remedy| remedy.changes.is_none());
    let heading = (!others.is_empty()).then(|| vec![MATHEMATICS.to_owned()]);
    let several = report.together.as_ref().filter(|_| report.smallest_set.len() > 1);
    let rows = [row("as it is", &report.baseline, String::new(), String::new())]
        .into_iter()
        .chain(exact.into_iter().chain(several).map(remedy))
        .chain(heading)
        .chain(others.into_iter().map(remedy));
    Table { head: head.map(str::to_owned).to_vec(), rows: rows.collect(), right: vec![1, 2, 3] }
}

/// Formats a slowdown with its reason: `about a third: a second forward pass of 12 layers`.
fn slowdown(cost: &FixCost) -> String {
    let class = match cost.class {
        FixCostClass::None => "none",
        FixCostClass::Small => "small",
        FixCostClass::Moderate => "moderate",
        FixCostClass::Large => "large",
    };
    let reason = if cost.reason.is_empty() { String::new() } else { format!(": {}", cost.reason) };
    format!("{class}{reason}")
}

/// Returns the lines that add what the answer names; empty if nothing is needed or nothing is enough.
pub fn lines(report: &FixReport) -> &[String] {
    let of_set = report.together.as_ref().filter(|_| !report.smallest_set.is_empty());
    let of_one = || report.remedies.iter().find(|remedy| remedy.figures.fits && report.together.is_none());
    of_set.or_else(of_one).filter(|_| !report.baseline.fits).map_or(&[], |remedy| &remedy.lines)
}

/// Returns the caveats of the answer, and why other remedies are not offered; those with one reason together.
pub fn notes(report: &FixReport) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for left in &report.left_out {
        match reasons.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, names)) => names.push(left.name.clone()),
            None => reasons.push((&left.reason, vec![left.name.clone()])),
        }
    }
    let left_out = reasons.into_iter().map(|(reason, names)| format!("without {}: {reason}", listed(&names)));
    let mut all = report.remedies.iter().map(|remedy| &remedy.figures).chain([&report.baseline]);
    let gives_back = all.any(|figures| figures.fits && figures.peak_reserved_bytes > report.capacity_bytes);
    let gives_back = gives_back.then(|| GIVES_BACK.to_owned());
    report.notes.iter().cloned().chain(gives_back).chain(left_out).collect()
}

#[cfg(test)]
mod tests;
