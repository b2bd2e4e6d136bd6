//! Replays the requests of a device, once or in a sweep over settings that is performed step by step.

use super::export::compressed;
use super::ready::{Ready, Running};
use frontend::ask::{RecordedSetup, ReplayData, SweepData, WhatIfColumn, WhatIfSetup};
use shared::analysis::{
    BatchScale, CONTEXT_BYTES, ReplayConfig, Replayer, Sweep, WholeStep, default_settings, recorded_capacity,
    recorded_course, recorded_settings, settings_variable,
};
use shared::export;
use shared::pickle::Style;
use shared::report::{self, ReplaySweep, RunFigures, sweep_config};

/// Number of columns of the plot; a wide plot has two pixels for each.
const COLUMNS: usize = 480;

/// Performs the next part of a sweep, and returns its results so far; the error is that of [`check`].
pub(super) fn sweep(ready: Ready<'_>, setup: &WhatIfSetup, is_new: bool) -> Result<SweepData, String> {
    check(ready)?;
    let mut kept = ready.kept.sweep.borrow_mut();
    if is_new {
        *kept = None;
    }
    let Running { sweep, scale } = kept.get_or_insert_with(|| begin(ready, setup));
    sweep.step(&replayer(ready), scale.as_ref());
    Ok(SweepData { progress: sweep.progress(), found: ReplaySweep::new(sweep) })
}

/// Returns a message for the user if the device has an allocator that is not modelled.
fn check(ready: Ready<'_>) -> Result<(), String> {
    if ready.device.index < 0 {
        return Err("Pinned host memory uses a different allocator, which is not modeled".to_owned());
    }
    default_settings(ready.trace).map(drop).map_err(|error| error.to_string().trim_end_matches('.').to_owned())
}

/// Returns the replay as a compressed snapshot; the error names a setting that is not supported.
pub(super) fn snapshot(ready: Ready<'_>, setup: &WhatIfSetup) -> Result<Vec<u8>, String> {
    let trace = replayer(ready).trace(&config(ready, setup)?);
    Ok(compressed(|sink| export::pickle(&trace, Style::Python, sink)))
}

fn replayer(ready: Ready<'_>) -> Replayer<'_> {
    Replayer::new(ready.trace, ready.device, &ready.timeline.allocations)
}

fn config(ready: Ready<'_>, setup: &WhatIfSetup) -> Result<ReplayConfig, String> {
    let settings = default_settings(ready.trace).and_then(|default| default.with_conf(&setup.conf));
    let settings = settings.map_err(|error| error.to_string())?;
    Ok(match setup.capacity_bytes {
        Some(capacity_bytes) => ReplayConfig { settings, capacity_bytes, elsewhere_bytes: setup.elsewhere_bytes },
        None => ReplayConfig::unlimited(settings),
    })
}

/// Returns the settings and the card of the recording, as far as it contains them; the error is that of [`check`].
pub(super) fn recorded(ready: Ready<'_>) -> Result<RecordedSetup, String> {
    check(ready)?;
    let capacity_bytes = recorded_capacity(ready.device, ready.timeline);
    let (conf, refusal) = match recorded_settings(ready.trace) {
        Ok(settings) => (settings.to_conf(), String::new()),
        Err(error) => (String::new(), error.to_string()),
    };
    Ok(RecordedSetup { conf, refusal, capacity_bytes, variable: settings_variable(ready.trace).to_owned() })
}

/// Replays a device's requests; the error is that of [`check`], or names a setting that is not supported.
pub(super) fn replayed(ready: Ready<'_>, setup: &WhatIfSetup) -> Result<ReplayData, String> {
    check(ready)?;
    let config = config(ready, setup)?;
    let (report, replayed) = replayer(ready).course(&config, COLUMNS);
    let usable_bytes = config.limit_bytes().map(|bytes| bytes.saturating_sub(config.elsewhere_bytes));
    let whole_step = WholeStep::of(&ready.study());
    let recorded = recorded_course(ready.device, ready.timeline, COLUMNS);
    let columns = recorded.into_iter().zip(replayed);
    Ok(ReplayData {
        recorded: RunFigures::recorded(ready.device, ready.timeline),
        replayed: RunFigures::replayed(&report),
        columns: columns.map(|(recorded, replayed)| WhatIfColumn { recorded, replayed }).collect(),
        events: u64::from(ready.timeline.events()),
        first_oom: report.ooms.first().copied(),
        guessed_blocks: report.guessed_blocks,
        whole_step: whole_step.map(|whole| report::WholeStep::new(&whole, &report, usable_bytes)),
    })
}

fn begin(ready: Ready<'_>, setup: &WhatIfSetup) -> Running {
    let recorded = recorded_settings(ready.trace).unwrap_or_default();
    let limit = (setup.capacity_bytes, setup.elsewhere_bytes);
    let card_elsewhere_bytes = setup.elsewhere_bytes.max(CONTEXT_BYTES);
    let whole_step = WholeStep::of(&ready.study());
    let sweep = Sweep::new(sweep_config(recorded, limit, card_elsewhere_bytes, whole_step));
    // Without a limit every batch fits.
    let scale = setup.capacity_bytes.and_then(|_| BatchScale::of(&ready.study()));
    Running { sweep, scale }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::*;
    use shared::import::import;
    use shared::trace::{Setting, text};

    /// Returns an engine for blocks that grow by 2 MiB each, so that no cached block fits the next request.
    fn engine() -> Engine {
        let line = |size: u64| format!("segment_alloc S{size} {size}MiB\nalloc S{size} {size}MiB\nfree S{size}\n");
        let rest = |size: u64| format!("segment S{size} {size}MiB\nblock S{size} {size}MiB inactive\n");
        let lines: String = (20..40).map(|size| line(size * 2)).collect();
        let rests: String = (20..40).map(|size| rest(size * 2)).collect();
        Engine::of(&(lines + &rests))
    }

    fn setup(conf: &str, capacity_mib: Option<u64>) -> WhatIfSetup {
        WhatIfSetup { conf: conf.to_owned(), capacity_bytes: capacity_mib.map(|mib| mib << 20), elsewhere_bytes: 0 }
    }

    #[track_caller]
    fn replay(conf: &str, capacity_mib: Option<u64>) -> ReplayData {
        engine().answer(&GetReplay { device: 0, setup: setup(conf, capacity_mib) }).unwrap()
    }

    #[test]
    fn a_replay_stands_beside_the_recording() {
        let same = replay("", None);
        assert_eq!(same.recorded.peak_reserved_bytes, 1180 << 20);
        assert_eq!(same.replayed.peak_reserved_bytes, same.recorded.peak_reserved_bytes);
        assert_eq!((same.recorded.driver_calls, same.replayed.driver_calls), (20, 20));
        let grown = replay("expandable_segments:True", None);
        assert_eq!(grown.replayed.peak_reserved_bytes, 80 << 20);
        let highest = grown.columns.iter().map(|column| column.replayed.reserved_bytes).max();
        assert_eq!(highest, Some(80 << 20));
        let recorded: Vec<_> = same.columns.iter().map(|column| column.recorded.reserved_bytes).collect();
        let replayed: Vec<_> = same.columns.iter().map(|column| column.replayed.reserved_bytes).collect();
        assert!(recorded.is_sorted() && recorded.last() == replayed.last());
        let calls = |of: fn(&WhatIfColumn) -> u64| grown.columns.iter().map(of).sum::<u64>();
        assert_eq!(calls(|column| column.recorded.calls), grown.recorded.driver_calls);
        assert_eq!(calls(|column| column.replayed.calls), grown.replayed.driver_calls);
        let beyond = |of: fn(&WhatIfColumn) -> u64| same.columns.iter().map(of).collect::<Vec<_>>();
        let (recorded, replayed) =
            (beyond(|one| one.recorded.beyond_live_bytes), beyond(|one| one.replayed.beyond_live_bytes));
        // A free is requested one event before it is recorded as completed; a replay performs both at once.
        let later = recorded.iter().skip(1).chain(recorded.last());
        assert!(replayed.iter().zip(&recorded).zip(later).all(|((one, this), next)| one == this || one == next));
        assert_eq!((recorded.iter().max(), replayed.iter().max()), (Some(&(1180 << 20)), Some(&(1180 << 20))));
    }

    #[test]
    fn a_small_card_is_out_of_memory() {
        let data = replay("", Some(70));
        assert!(data.replayed.ooms > 0 && data.first_oom.unwrap().size_bytes > 70 << 20, "{data:?}");
        assert!(data.replayed.retries > Some(0) && data.replayed.first_oom_event.is_some());
        let sums =
            data.columns.iter().fold((0, 0), |sums, one| (sums.0 + one.replayed.retries, sums.1 + one.replayed.ooms));
        assert_eq!((Some(sums.0), sums.1), (data.replayed.retries, data.replayed.ooms));
    }

    #[test]
    fn what_is_not_modelled_is_refused_by_name() {
        let ask = GetReplay { device: 0, setup: setup("backend:cudaMallocAsync", None) };
        let reason = engine().answer(&ask).unwrap_err();
        assert!(reason.contains("backend:cudaMallocAsync"), "{reason}");
    }

    #[test]
    fn another_allocator_is_not_replayed() {
        let mut trace = text::parse("segment_alloc S 2MiB\nalloc S 1MiB\n").unwrap();
        trace.settings.entries.push(("PYTORCH_ALLOC_CONF".to_owned(), Setting::Text(String::new())));
        let reason = Engine::new(trace).answer(&GetRecordedSetup { device: 0 }).unwrap_err();
        assert!(reason.starts_with("The snapshot is of an XPU, whose allocator is not modeled"), "{reason}");
    }

    #[test]
    fn a_sweep_goes_step_by_step() {
        let mut engine = engine();
        let setup = setup("", Some(1500));
        let mut step = |is_new| engine.answer(&GetSweep { device: 0, setup: setup.clone(), is_new }).unwrap();
        let mut data: SweepData = step(true);
        assert_eq!(data.found.trials.len(), 1);
        let mut steps = 1;
        while !data.is_done() {
            let next = step(false);
            assert!(next.progress >= data.progress && steps < 100);
            (data, steps) = (next, steps + 1);
        }
        let best = &data.found.trials[data.found.best_position().unwrap()];
        assert!(best.settings.contains("expandable_segments:True"), "{}", best.settings);
        assert_eq!(data.found.smallest_card.as_deref(), Some("t4-16gb"));
        assert_eq!(step(true).found.trials.len(), 1);
    }

    #[test]
    fn a_replay_is_a_snapshot() {
        let mut engine = engine();
        let mut replay = |conf| {
            engine.write(&WriteReplay { device: 0, setup: setup(conf, None) }, &mut |_| ()).map(|file| file.bytes)
        };
        let trace = import(&replay("expandable_segments:True").unwrap()).unwrap();
        trace.check();
        let maps = |trace: &shared::trace::Trace| {
            trace.devices[0].events.iter().filter(|event| event.action.name() == "segment_map").count()
        };
        assert!(maps(&trace) > 0 && trace.devices[0].segments.reserved_bytes() == 80 << 20);
        assert!(replay("backend:cudaMallocAsync").is_err());
    }
}
