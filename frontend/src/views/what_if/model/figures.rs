//! Texts and numbers of the table that compares the recording with the replay.

use crate::ask::{ReplayData, WhatIfSetup};
use shared::base::format;
use shared::report::RunFigures;
use std::cmp::{Ordering, Reverse};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    pub label: &'static str,
    pub explanation: &'static str,
    pub recorded: String,
    pub replayed: String,
    /// Word for the replay's figure: `better`, `worse`, `same`, or empty if there is nothing to compare with.
    pub verdict: &'static str,
}

/// Compares a figure; less is better.
fn verdict<T: Ord>(recorded: T, replayed: T) -> &'static str {
    match replayed.cmp(&recorded) {
        Ordering::Less => "better",
        Ordering::Equal => "same",
        Ordering::Greater => "worse",
    }
}

pub fn figure_rows(data: &ReplayData) -> Vec<FigureRow> {
    let ReplayData { recorded, replayed, .. } = data;
    let row = |label, explanation, [recorded, replayed]: [String; 2], verdict| FigureRow {
        label,
        explanation,
        recorded,
        replayed,
        verdict,
    };
    let both = |text: fn(&RunFigures) -> String| [text(recorded), text(replayed)];
    let of_replay = |count: fn(&RunFigures) -> Option<u64>| {
        [(recorded, "not recorded"), (replayed, "")]
            .map(|(run, none)| count(run).map_or_else(|| none.to_owned(), format::count))
    };
    let share = |run: &RunFigures| {
        let beyond = run.beyond_live_bytes();
        format!("{}, {}", format::bytes(beyond), format::percent(beyond, run.peak_reserved_bytes))
    };
    // Running out of memory later is better than earlier, and never is best.
    let oom = |run: &RunFigures| Reverse(run.first_oom_event.unwrap_or(u64::MAX));
    vec![
        row(
            "Peak reserved",
            "The highest total size of segments that PyTorch holds from CUDA.",
            both(|run| format::bytes(run.peak_reserved_bytes)),
            verdict(recorded.peak_reserved_bytes, replayed.peak_reserved_bytes),
        ),
        row(
            "Fragmentation",
            "Peak reserved minus peak live memory, and its share of peak reserved: cache, fragments and rounding.",
            both(share),
            verdict(recorded.beyond_live_bytes(), replayed.beyond_live_bytes()),
        ),
        row(
            "Driver calls",
            "Calls that request memory from CUDA or return it. The program waits for each call.",
            both(|run| format::count(run.driver_calls)),
            verdict(recorded.driver_calls, replayed.driver_calls),
        ),
        row(
            "Retries",
            "Requests for which PyTorch returns its whole cache to CUDA. Recordings do not contain this number.",
            of_replay(|run| run.retries),
            "",
        ),
        row(
            "Garbage collections",
            "How often garbage_collection_threshold reduced the cache. Recordings do not contain this number.",
            of_replay(|run| run.collections),
            "",
        ),
        row(
            "Out of memory",
            "The first request that fails. The replay continues without it.",
            [out_of_memory(recorded, false), out_of_memory(replayed, data.whole_step.is_some())],
            verdict(oom(recorded), oom(replayed)),
        ),
    ]
}

fn out_of_memory(run: &RunFigures, ends_in_error: bool) -> String {
    match run.first_oom_event {
        None => never(ends_in_error).to_owned(),
        Some(event) if run.ooms == 1 => format!("at event {}", format::count(event)),
        Some(event) => format!("at event {}, {} in total", format::count(event), format::counted(run.ooms, "time")),
    }
}

/// Returns the words for a replay that serves all requests, also of a recording that ends in an error.
pub(super) fn never(ends_in_error: bool) -> &'static str {
    if ends_in_error { "not up to the recorded error" } else { "never" }
}

/// Returns remarks on the replay that its figures do not show.
pub fn notes(data: &ReplayData, setup: &WhatIfSetup) -> Vec<String> {
    let oom = data.first_oom.map(|oom| {
        format!(
            "The request for {} at event {} fails. The program would stop there unless it catches the error. The replay \
             continues without the request.",
            format::bytes(oom.size_bytes),
            format::count(oom.event as u64)
        )
    });
    let guessed = (data.guessed_blocks > 0).then(|| {
        format!(
            "The size or address of {} allocated before recording is a guess.",
            format::counted(data.guessed_blocks, "block")
        )
    });
    let elsewhere = (setup.elsewhere_bytes > 0).then(|| {
        format!(
            "{} of GPU memory is set aside for the CUDA context and libraries.",
            format::bytes(setup.elsewhere_bytes)
        )
    });
    let whole = data.whole_step.as_ref().map(|whole| whole.text.clone());
    whole.into_iter().chain(oom).chain(guessed).chain(elsewhere).collect()
}

pub fn summary(data: &ReplayData) -> String {
    let oom = data.replayed.first_oom_event.map_or_else(
        || "no out-of-memory error".to_owned(),
        |event| format!("out of memory at event {}", format::count(event)),
    );
    format!(
        "Replayed: {} reserved at the peak, {} in the recording; {}, {} in the recording; {oom}",
        format::bytes(data.replayed.peak_reserved_bytes),
        format::bytes(data.recorded.peak_reserved_bytes),
        format::counted(data.replayed.driver_calls, "driver call"),
        format::count(data.recorded.driver_calls),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::{ReplayOom, WholeStep};

    fn data() -> ReplayData {
        let recorded = RunFigures {
            peak_live_bytes: 3 << 30,
            peak_reserved_bytes: 4 << 30,
            driver_calls: 100,
            ooms: 2,
            first_oom_event: Some(1200),
            ..RunFigures::default()
        };
        let replayed = RunFigures {
            peak_reserved_bytes: 13 << 28,
            driver_calls: 1200,
            retries: Some(0),
            collections: Some(3),
            ooms: 0,
            first_oom_event: None,
            ..recorded
        };
        let text = "The recorded step ends in the error.".to_owned();
        let whole_step = Some(WholeStep { text, ..WholeStep::default() });
        ReplayData { recorded, replayed, guessed_blocks: 3, whole_step, ..ReplayData::default() }
    }

    #[test]
    fn figures_are_compared_in_words() {
        let rows = figure_rows(&data());
        let words: Vec<_> = rows.iter().map(|row| format!("{} {}", row.replayed, row.verdict)).collect();
        assert_eq!(
            words,
            [
                "3.25 GiB better",
                "256 MiB, 7.7 % better",
                "1,200 worse",
                "0 ",
                "3 ",
                "not up to the recorded error better"
            ]
        );
        assert_eq!(rows[5].recorded, "at event 1,200, 2 times in total");
        assert_eq!(rows[3].recorded, "not recorded");
        assert!(figure_rows(&ReplayData::default()).iter().all(|row| row.verdict != "worse"));
    }

    #[test]
    fn what_is_not_known_is_said() {
        let setup = WhatIfSetup { elsewhere_bytes: 512 << 20, ..WhatIfSetup::default() };
        let all = notes(&data(), &setup).join(" ");
        assert!(all.starts_with("The recorded step ends in the error."), "{all}");
        assert!(all.contains("3 blocks allocated before recording") && all.contains("512 MiB of GPU memory"), "{all}");
        let mut failed = data();
        (failed.replayed.first_oom_event, failed.replayed.ooms) = (Some(7), 1);
        failed.first_oom = Some(ReplayOom { event: 7, size_bytes: 1 << 30, free_bytes: 0 });
        let all = notes(&failed, &WhatIfSetup::default()).join(" ");
        assert!(all.contains("The request for 1.00 GiB at event 7 fails."), "{all}");
        assert!(summary(&failed).ends_with("; 1,200 driver calls, 100 in the recording; out of memory at event 7"));
    }
}
