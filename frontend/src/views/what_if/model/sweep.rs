//! Texts and numbers of the settings tried by a sweep: a table and its conclusions.

use super::figures::never;
use crate::ask::SweepData;
use shared::base::format;
use shared::report::{ReplaySweep, ReplayTrial};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRow {
    pub conf: String,
    pub label: String,
    /// Remark: `best`, `as recorded`, both, or empty.
    pub mark: &'static str,
    pub reserved: String,
    pub calls: String,
    /// First event that runs out of memory, or how far it is known that none does.
    pub oom: String,
}

pub fn sweep_rows(data: &SweepData) -> Vec<SweepRow> {
    let trials = &data.found.trials;
    let best = data.found.best_position().filter(|_| data.is_done() || trials.len() > 1);
    let ends_in_error = data.found.whole_step.is_some();
    let row = |(position, trial): (usize, &ReplayTrial)| SweepRow {
        conf: trial.settings.clone(),
        label: if trial.settings.is_empty() { "default settings".to_owned() } else { trial.settings.clone() },
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
            .map_or_else(|| never(ends_in_error).to_owned(), |event| format!("at event {}", format::count(event))),
    };
    trials.iter().enumerate().map(row).collect()
}

/// Returns the answer of the view in a line, or how far the search for it is; `None` before it began.
pub fn answer(data: &SweepData, capacity_bytes: Option<u64>) -> String {
    match data.found.answer(capacity_bytes).filter(|_| data.is_done()) {
        Some(answer) => answer,
        None => format!("Trying settings: {} so far…", data.found.trials.len()),
    }
}

/// Returns the settings that the answer names, if they are others than the recorded ones.
pub fn advised(data: &SweepData) -> Option<&str> {
    let best = data.found.best_position().filter(|&best| best > 0 && data.is_done())?;
    let trial = &data.found.trials[best];
    trial.first_oom_event.is_none().then_some(trial.settings.as_str())
}

/// Returns true if the answer is that something fits, which a recording that ends in an error seldom tells.
pub fn is_enough(data: &SweepData) -> bool {
    data.is_done() && data.found.best_is_enough()
}

/// Returns sentences that add to the answer of a sweep; none before the sweep is done.
pub fn findings(data: &SweepData) -> Vec<String> {
    if !data.is_done() {
        return Vec::new();
    }
    let found = &data.found;
    let mut sentences: Vec<String> = found.whole_step.iter().map(|whole| whole.text.clone()).collect();
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

fn batch(factor: f64) -> String {
    if factor == 1.0 {
        "the recorded batch".to_owned()
    } else if factor < 1.0 {
        format!("{} of the recorded batch", format::percent((factor * 1000.0) as u64, 1000))
    } else {
        format!("{factor} times the recorded batch")
    }
}

fn card_sentence(found: &ReplaySweep) -> String {
    match (found.card_words(&found.smallest_card), found.card_words(&found.smallest_card_as_recorded)) {
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
    use shared::report::WholeStep;

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
        assert_eq!(answer(&data, Some(16 << 30)), "expandable_segments:True fits: 15.0 GiB reserved at the peak");
        assert_eq!(advised(&data), Some("expandable_segments:True"));
        let sentences = findings(&data);
        assert!(sentences[0].ends_with("with the recorded settings, none fits."), "{sentences:?}");
        assert!(sentences[1].contains("about 1.5 times the recorded batch"), "{sentences:?}");
        let smaller = findings(&SweepData { found: ReplaySweep { batch_factor: Some(0.875), ..data.found }, ..data });
        assert!(smaller[1].contains("about 88 % of the recorded batch"), "{smaller:?}");
    }

    #[test]
    fn a_recording_that_ends_in_an_error_gets_no_tick() {
        let data = done(vec![trial("", 20, Some(9)), trial("a:1", 19, None)], 1);
        assert!(is_enough(&data));
        let text = "The recorded step ends in the error.".to_owned();
        let whole_step = Some(WholeStep { basis: "unknown".to_owned(), text: text.clone(), ..WholeStep::default() });
        let cut = SweepData { found: ReplaySweep { whole_step, ..data.found }, ..data };
        assert_eq!((advised(&cut), is_enough(&cut)), (Some("a:1"), false));
        assert_eq!(findings(&cut)[..1], [text]);
        assert!(findings(&cut)[1].contains("is at least l4-24gb"), "{:?}", findings(&cut));
        assert_eq!(sweep_rows(&cut)[1].oom, "not up to the recorded error");
    }

    #[test]
    fn only_a_finished_sweep_that_helps_advises() {
        let data = SweepData { progress: 0.1, ..done(vec![trial("", 20, None)], 0) };
        assert_eq!(findings(&data), Vec::<String>::new());
        assert_eq!((answer(&data, None).as_str(), advised(&data)), ("Trying settings: 1 so far…", None));
        assert_eq!(sweep_rows(&data)[0].mark, "as recorded");
        assert_eq!(advised(&done(vec![trial("", 20, Some(9)), trial("a:1", 19, Some(10))], 1)), None);
        assert_eq!(advised(&done(vec![trial("", 20, None)], 0)), None);
    }
}
