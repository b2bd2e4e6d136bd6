//! Texts and numbers of the settings tried by a sweep: a table and its conclusions.

use crate::ask::SweepData;
use shared::base::format;
use shared::report::{ReplaySweep, ReplayTrial};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRow {
    /// The settings as PyTorch takes them.
    pub conf: String,
    pub label: String,
    /// Remark: `best`, `as recorded`, both, or empty.
    pub mark: &'static str,
    /// Peak of the reserved bytes.
    pub reserved: String,
    /// Number of driver calls.
    pub calls: String,
    /// First event that runs out of memory, or `never`.
    pub oom: String,
}

/// Returns the lines of the table, in the order of the trials.
pub fn sweep_rows(data: &SweepData) -> Vec<SweepRow> {
    let trials = &data.found.trials;
    let best = data.found.best_position().filter(|_| data.is_done() || trials.len() > 1);
    let row = |(position, trial): (usize, &ReplayTrial)| SweepRow {
        conf: trial.settings.clone(),
        label: name(&trial.settings),
        mark: match (best == Some(position), position == 0) {
            (true, true) => "best, as recorded",
            (true, false) => "best",
            (false, true) => "as recorded",
            (false, false) => "",
        },
        reserved: format::bytes(trial.peak_reserved_bytes),
        calls: format::count(trial.driver_calls),
        oom: trial
            .first_oom_event
            .map_or_else(|| "never".to_owned(), |event| format!("at event {}", format::count(event))),
    };
    trials.iter().enumerate().map(row).collect()
}

fn name(conf: &str) -> String {
    if conf.is_empty() { "default settings".to_owned() } else { conf.to_owned() }
}

/// Returns sentences about the result of a sweep; none before the sweep is done.
pub fn findings(data: &SweepData) -> Vec<String> {
    if !data.is_done() {
        return Vec::new();
    }
    let found = &data.found;
    let mut sentences: Vec<String> = found.best_position().map(|best| best_sentence(found, best)).into_iter().collect();
    sentences.push(card_sentence(found));
    sentences.extend(found.batch_factor.map(|factor| {
        format!(
            "By an estimate that scales inputs, activations and temporaries, about {} fits on this GPU with the best \
             settings.",
            batch(factor)
        )
    }));
    sentences
}

/// Formats a factor of the batch size.
fn batch(factor: f64) -> String {
    if factor < 1.0 {
        format!("{} of the recorded batch", format::percent((factor * 1000.0) as u64, 1000))
    } else {
        format!("{factor} times the recorded batch")
    }
}

fn best_sentence(found: &ReplaySweep, position: usize) -> String {
    let (best, recorded) = (&found.trials[position], &found.trials[0]);
    let (least, first) = (best.peak_reserved_bytes, recorded.peak_reserved_bytes);
    if position == 0 {
        return "None of the tried settings needs less memory than the recorded settings.".to_owned();
    }
    if best.first_oom_event.is_some() {
        return "The replay runs out of memory with each of these settings. Reduce live memory, or use a larger GPU."
            .to_owned();
    }
    let saved = match first.checked_sub(least) {
        Some(saved) if saved > 0 => format!(", {} less than with the recorded settings", format::bytes(saved)),
        _ => String::new(),
    };
    format!("Best: {}, with {} reserved at the peak{saved}.", name(&best.settings), format::bytes(least))
}

fn card_sentence(found: &ReplaySweep) -> String {
    match (&found.smallest_card, &found.smallest_card_as_recorded) {
        (None, _) => "No GPU in the list has enough memory.".to_owned(),
        (Some(best), Some(recorded)) if best == recorded => {
            format!("The smallest GPU that fits is {best}, also with the recorded settings.")
        }
        (Some(best), Some(recorded)) => {
            format!("The smallest GPU that fits is {best}; with the recorded settings, it is {recorded}.")
        }
        (Some(best), None) => format!("The smallest GPU that fits is {best}; with the recorded settings, none fits."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(settings: &str, gib: u64, first_oom_event: Option<u64>) -> ReplayTrial {
        let settings = settings.to_owned();
        ReplayTrial { settings, peak_reserved_bytes: gib << 30, first_oom_event, ..ReplayTrial::default() }
    }

    fn done(trials: Vec<ReplayTrial>, best: usize) -> SweepData {
        let best = Some(trials[best].settings.clone());
        let (smallest_card, batch_factor) = (Some("l4-24gb".to_owned()), Some(1.5));
        let found = ReplaySweep { trials, best, smallest_card, batch_factor, ..ReplaySweep::default() };
        SweepData { progress: 1.0, found }
    }

    #[test]
    fn the_best_row_says_so() {
        let data = done(vec![trial("", 20, Some(9)), trial("expandable_segments:True", 15, None)], 1);
        let rows = sweep_rows(&data);
        assert_eq!((rows[0].mark, rows[0].oom.as_str()), ("as recorded", "at event 9"));
        assert_eq!((rows[1].mark, rows[1].reserved.as_str()), ("best", "15.0 GiB"));
        let sentences = findings(&data);
        assert_eq!(
            sentences[0],
            "Best: expandable_segments:True, with 15.0 GiB reserved at the peak, 5.00 GiB less than with the recorded \
             settings."
        );
        assert!(sentences[1].ends_with("with the recorded settings, none fits."), "{sentences:?}");
        assert!(sentences[2].contains("about 1.5 times the recorded batch"), "{sentences:?}");
        let smaller = findings(&SweepData { found: ReplaySweep { batch_factor: Some(0.875), ..data.found }, ..data });
        assert!(smaller[2].contains("about 88 % of the recorded batch"), "{smaller:?}");
    }

    #[test]
    fn a_sweep_on_its_way_claims_nothing() {
        let data = SweepData { progress: 0.1, ..done(vec![trial("", 20, None)], 0) };
        assert_eq!(findings(&data), Vec::<String>::new());
        assert_eq!(sweep_rows(&data)[0].mark, "as recorded");
    }

    #[test]
    fn nothing_helps_is_an_answer_too() {
        let none = findings(&done(vec![trial("", 20, Some(9)), trial("a:1", 19, Some(10))], 1));
        assert!(none[0].starts_with("The replay runs out of memory with each of these settings"), "{none:?}");
        let same = findings(&done(vec![trial("", 20, None)], 0));
        assert!(same[0].starts_with("None of the tried settings"), "{same:?}");
    }
}
