//! Implements `snapscope replay --sweep`, which tries other settings, cards and batches.

use shared::allocator::Settings;
use shared::analysis::{BatchScale, ReplayConfig, Replayer, Study, Sweep, WholeStep};
use shared::base::format::{bytes, count, percent};
use shared::report::{ReplaySweep, ReplayTrial, sweep_config};

use super::super::text;

/// Tries the recorded and other settings on the replay's card, and searches for the smallest card and the largest
/// batch.
///
/// Batches are tried only if the card has a limit. Of the cards to choose from, others take `card_elsewhere_bytes`.
pub(super) fn sweep(
    replayer: &Replayer<'_>,
    study: &Study<'_>,
    recorded: Settings,
    config: &ReplayConfig,
    card_elsewhere_bytes: u64,
    whole_step: Option<WholeStep>,
) -> ReplaySweep {
    let scale = config.limit_bytes().and_then(|_| BatchScale::of(study));
    let limit = (config.limit_bytes(), config.elsewhere_bytes);
    let mut sweep = Sweep::new(sweep_config(recorded, limit, card_elsewhere_bytes, whole_step));
    while sweep.step(replayer, scale.as_ref()) {}
    ReplaySweep::new(&sweep)
}

/// Formats a sweep for the terminal; `variable` is the environment variable for settings.
pub(super) fn lines(sweep: &ReplaySweep, variable: &str, capacity_bytes: Option<u64>) -> Vec<String> {
    let head = ["Settings", "peak reserved", "driver calls", "retries", "out of memory"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sweep.trials.iter().enumerate().map(row)).collect();
    let mut lines = vec![String::new()];
    lines.extend(text::table(&rows, &[1, 2, 3]));
    lines.push(String::new());
    lines.extend(sweep.answer(capacity_bytes));
    lines.extend(sweep.best.as_deref().map(|conf| best_line(conf, variable)));
    let card = |name: Option<String>| name.unwrap_or_else(|| "none of the known GPUs".to_owned());
    lines.push(format!(
        "Smallest GPU that fits: {}; with the recorded settings: {}",
        card(sweep.card_words(&sweep.smallest_card)),
        card(sweep.card_words(&sweep.smallest_card_as_recorded))
    ));
    lines.extend(sweep.batch_factor.map(batch_line));
    lines
}

fn batch_line(factor: f64) -> String {
    let share = percent((factor * 1000.0) as u64, 1000);
    let much = if factor < 1.0 { format!("{share} of") } else { format!("{factor} times") };
    format!("Estimated largest batch on this GPU with these settings: {much} the recorded batch")
}

fn best_line(conf: &str, variable: &str) -> String {
    match conf {
        "" => "Best: the default settings".to_owned(),
        conf => format!("Best: {variable}={conf}"),
    }
}

fn row((index, trial): (usize, &ReplayTrial)) -> Vec<String> {
    let name = if trial.settings.is_empty() { "default settings" } else { &trial.settings };
    let recorded = if index == 0 { " (as recorded)" } else { "" };
    let oom = trial.first_oom_event.map_or_else(|| "no".to_owned(), |event| format!("at event {}", count(event)));
    vec![
        format!("{name}{recorded}"),
        bytes(trial.peak_reserved_bytes),
        count(trial.driver_calls),
        count(trial.retries),
        oom,
    ]
}
