//! Implements `snapscope replay`, which repeats a snapshot's requests under other allocator settings or on another
//! card.

use std::path::PathBuf;

use clap::Args;
use shared::allocator::{ConfError, Settings};
use shared::analysis::{
    BatchScale, ReplayConfig, Replayer, Study, Sweep, WholeStep, default_settings, recorded_capacity,
    recorded_settings, verify,
};
use shared::api::OfFile;
use shared::base::format::{bytes, count, counted, percent};
use shared::export;
use shared::pickle::Style;
use shared::report::{self, Replay, ReplaySweep, ReplayTrial, RunFigures, Verification, sweep_config};
use shared::trace::Accelerator;

use super::export::write::write;
use super::output::document;
use super::text;
use crate::snapshot_file::Opened;
use crate::{Failure, units};

/// The options of `snapscope replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`
    file: PathBuf,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// Allocator settings, in the format of PYTORCH_CUDA_ALLOC_CONF [default: those of the recording]
    #[arg(long, value_name = "CONF")]
    settings: Option<String>,

    /// GPU memory, such as 80GiB, or the name of a GPU, such as h100-80gb [default: the recorded limit if memory ran
    /// out, else no limit]
    #[arg(long, value_name = "SIZE", value_parser = units::capacity)]
    capacity: Option<u64>,

    /// GPU memory that PyTorch cannot use: the CUDA context, other libraries and other processes
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = units::size)]
    elsewhere: u64,

    /// Also replay with the recorded settings and compare the segment events with those of the recording
    #[arg(long)]
    verify: bool,

    /// Also try other settings, all known GPUs and, if GPU memory is limited, other batch sizes
    #[arg(long)]
    sweep: bool,

    /// Write the replay as a snapshot file, compressed if its name ends in `.gz`
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl ReplayArgs {
    /// Reads the file, replays it and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = Opened::read(&self.file)?;
        let report = self.report(&opened)?;
        if self.json {
            return Ok(document(&OfFile::new(&opened.file, report)));
        }
        let mut text = page(&opened, &report);
        if let Some(output) = &self.output {
            text += &format!("Written to {}\n", output.display());
        }
        Ok(text)
    }

    /// Replays a snapshot, and writes the replay if asked to.
    pub(super) fn report(&self, opened: &Opened) -> Result<Replay, Failure> {
        let (device, timeline) = opened.choose_device(self.device)?;
        let recorded = recorded_settings(&opened.trace);
        let settings = match &self.settings {
            Some(conf) => default_settings(&opened.trace).and_then(|default| default.with_conf(conf)),
            None => recorded.clone(),
        };
        let settings = settings.map_err(|error| {
            let hint = match error {
                ConfError::OtherAllocator { .. } => {
                    "all other commands work; `diagnose` explains the memory without a replay"
                }
                ConfError::Invalid { .. } | ConfError::NotModelled { .. } => {
                    "pass supported settings with `--settings`"
                }
            };
            refused(&error, hint)
        })?;
        // What PyTorch could have had at a recorded out-of-memory event is free of what others take.
        let (capacity_bytes, elsewhere_bytes) = match self.capacity {
            Some(capacity_bytes) => (capacity_bytes, self.elsewhere),
            None => (recorded_capacity(device, timeline).unwrap_or(ReplayConfig::NO_LIMIT_BYTES), 0),
        };
        let config = ReplayConfig { settings, capacity_bytes, elsewhere_bytes };
        let replayer = Replayer::new(&opened.trace, device, &timeline.allocations);
        let replayed = replayer.replay(&config);
        let recorded_figures = RunFigures::recorded(device, timeline);
        let mut report = Replay::new(device.index, &config, &replayed, recorded_figures);
        let study = Study::new(&opened.trace, device, timeline);
        let whole_step = WholeStep::of(&study);
        let usable_bytes = config.limit_bytes().map(|bytes| bytes.saturating_sub(elsewhere_bytes));
        report.whole_step = whole_step.as_ref().map(|whole| report::WholeStep::new(whole, &replayed, usable_bytes));
        if self.verify {
            let verified = verify(&opened.trace, device, self.capacity);
            let hint = "omit `--verify`, or add `--capacity`";
            report.verify = Some(verified.map_err(|error| refused(&error, hint))?);
        }
        if self.sweep {
            let recorded = recorded.unwrap_or_else(|_| config.settings.clone());
            report.sweep = Some(sweep(&replayer, &study, recorded, &config, self.elsewhere, whole_step));
        }
        if let Some(output) = &self.output {
            let trace = replayer.trace(&config);
            write(output, |sink| export::pickle(&trace, Style::Python, sink))
                .map_err(|error| Failure::writing(output, &error))?;
        }
        Ok(report)
    }
}

fn refused(error: &dyn std::error::Error, hint: &str) -> Failure {
    Failure::new(error.to_string().trim_end_matches('.'), hint)
}

pub(super) fn page(opened: &Opened, report: &Replay) -> String {
    let recorded = &report.recorded;
    let settings = if report.settings.is_empty() { "default settings" } else { &report.settings };
    let card = report.capacity_bytes.map_or_else(|| "no limit".to_owned(), bytes);
    let row = |name: &str, recorded: String, replayed: String| vec![name.to_owned(), recorded, replayed];
    let calls = report.segment_allocs + report.segment_frees + report.maps + report.unmaps;
    let beyond = |live: u64, reserved: u64| percent(reserved.saturating_sub(live), reserved);
    let mut rows = vec![
        row("", "recorded".to_owned(), "replayed".to_owned()),
        row("Peak live", bytes(recorded.peak_live_bytes), bytes(report.peak_live_bytes)),
        row("Peak reserved", bytes(recorded.peak_reserved_bytes), bytes(report.peak_reserved_bytes)),
        row(
            "Fragmentation",
            beyond(recorded.peak_live_bytes, recorded.peak_reserved_bytes),
            beyond(report.peak_live_bytes, report.peak_reserved_bytes),
        ),
        row("Driver calls", count(recorded.driver_calls), count(calls)),
        row("Out of memory", count(recorded.ooms), count(report.ooms.len() as u64)),
    ];
    // A recording does not contain the number of its garbage collections.
    if report.collections > 0 {
        rows.push(row("Garbage collections", "–".to_owned(), count(report.collections)));
    }
    let name = opened.device_name(report.device);
    let mut lines = vec![opened.file.clone(), format!("{name}, {settings}, {card}"), String::new()];
    lines.extend(text::table(&rows, &[1, 2]));
    if let Some(oom) = report.ooms.first() {
        let (event, size) = (count(oom.event as u64), bytes(oom.size_bytes));
        lines.push(format!("Out of memory at event {event}: {size} requested, {} free", bytes(oom.free_bytes)));
    }
    lines.extend(report.whole_step.as_ref().map(|whole| whole.text.clone()));
    if report.guessed_blocks > 0 {
        let blocks = counted(report.guessed_blocks, "block");
        lines.push(format!("The size or address of {blocks} from before the recording is a guess"));
    }
    lines.extend(report.verify.as_ref().map(verified_line));
    let variable = Accelerator::of(&opened.trace).variable();
    lines.extend(report.sweep.iter().flat_map(|sweep| sweep_lines(sweep, variable, report.capacity_bytes)));
    lines.join("\n") + "\n"
}

fn verified_line(verify: &Verification) -> String {
    let (equal, recorded) = (count(verify.equal), counted(verify.recorded, "segment event"));
    let (same, requests) = (count(verify.same_address), counted(verify.requests, "request"));
    let blocks = if verify.same_blocks { "the same blocks at the end" } else { "different blocks at the end" };
    match &verify.first_difference {
        None => {
            format!("Verification: {equal} of {recorded} equal, {same} of {requests} at the same address, {blocks}")
        }
        Some(first) => {
            let event = count(first.event as u64);
            format!("Verification: {equal} of {recorded} equal, with the first difference at event {event}")
        }
    }
}

/// Tries the recorded and other settings on the replay's card, and searches for the smallest card and the largest
/// batch.
///
/// Batches are tried only if the card has a limit. Of the cards to choose from, others take `card_elsewhere_bytes`.
fn sweep(
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
fn sweep_lines(sweep: &ReplaySweep, variable: &str, capacity_bytes: Option<u64>) -> Vec<String> {
    let head = ["Settings", "peak reserved", "driver calls", "retries", "out of memory"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sweep.trials.iter().enumerate().map(trial_row)).collect();
    let mut lines = vec![String::new()];
    lines.extend(text::table(&rows, &[1, 2, 3]));
    lines.push(String::new());
    lines.extend(sweep.answer(capacity_bytes));
    lines.extend(sweep.best.as_deref().map(|conf| match conf {
        "" => "Best: the default settings".to_owned(),
        conf => format!("Best: {variable}={conf}"),
    }));
    let card = |name: Option<String>| name.unwrap_or_else(|| "none of the known GPUs".to_owned());
    lines.push(format!(
        "Smallest GPU that fits: {}; with the recorded settings: {}",
        card(sweep.card_words(&sweep.smallest_card)),
        card(sweep.card_words(&sweep.smallest_card_as_recorded))
    ));
    lines.extend(sweep.batch_factor.map(|factor| {
        let share = percent((factor * 1000.0) as u64, 1000);
        let much = if factor < 1.0 { format!("{share} of") } else { format!("{factor} times") };
        format!("Estimated largest batch on this GPU with these settings: {much} the recorded batch")
    }));
    lines
}

fn trial_row((index, trial): (usize, &ReplayTrial)) -> Vec<String> {
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
