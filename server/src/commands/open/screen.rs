//! Sums up files for a terminal, each in one screen: the timeline, the top stacks and the findings.

use std::fmt::Write as _;

use logs::{Content, log_report};
use shared::analysis::{Summary, Timeline, studies};
use shared::base::Moment;
use shared::base::format::{bytes, counted};
use shared::report::{Diagnosis, DiagnosisConfig, LiveConfig, diagnosis};
use shared::trace::Device;

use crate::Failure;
use crate::commands::named::Named;
use crate::commands::text::{curve, cut, wrapped};
use crate::commands::{diagnose, peak};
use crate::config::Terminal;
use crate::snapshot_file::{self, Opened};

const TOP_STACKS: usize = 5;

/// Returns the screens of the files that can be read, and the failures of the others; a file of a folder that is
/// neither a snapshot nor a log is left out.
pub(super) fn screens(files: &[Named], terminal: &Terminal) -> (String, Vec<Failure>) {
    let (mut screens, mut unread) = (Vec::new(), Vec::new());
    for file in files {
        match screen(file, terminal) {
            Ok(screen) => screens.push(screen),
            Err(failure) => unread.push((file.is_of_folder, failure)),
        }
    }
    if !screens.is_empty() {
        unread.retain(|(is_of_folder, _)| !is_of_folder);
    }
    (screens.join("\n"), unread.into_iter().map(|(_, failure)| failure).collect())
}

fn screen(file: &Named, terminal: &Terminal) -> Result<String, Failure> {
    let lines = match snapshot_file::open(&file.path)? {
        Content::Log(log) => {
            let (name, report) = (file.path.display().to_string(), log_report(&log));
            let mut lines = vec![name.clone()];
            lines.extend(diagnose::log_summary(&report).lines().map(str::to_owned));
            add_findings(&mut lines, &report.diagnosis, ("GPU", &name), terminal);
            lines
        }
        Content::Snapshot(opened) => of_snapshot(&opened, terminal)?,
    };
    Ok(lines.iter().fold(String::new(), |mut page, line| {
        let _ = writeln!(page, "{}", cut(line, terminal.columns));
        page
    }))
}

fn of_snapshot(opened: &Opened, terminal: &Terminal) -> Result<Vec<String>, Failure> {
    let devices: Vec<_> = opened.devices().collect();
    let studies = studies(&opened.trace, &devices);
    let diagnosis = diagnosis(&opened.trace, &studies, &DiagnosisConfig::default());
    let mut lines = vec![opened.file.clone()];
    lines.extend(diagnosis.runs.iter().flat_map(|run| wrapped(&run.headline, terminal.columns)));
    if opened.trace.devices.is_empty() && opened.trace.host.is_some() {
        lines.push("The snapshot has pinned host memory only.".to_owned());
        return Ok(lines);
    }
    let (device, timeline) = opened.choose_device(None)?;
    lines.push(String::new());
    lines.push(memory_line(opened, device, timeline));
    if !device.events.is_empty() {
        let width = u32::try_from(terminal.columns).unwrap_or(u32::MAX);
        lines.extend(curve(timeline, width, (terminal.lines / 5).clamp(3, 10)));
    }
    let at_peak = peak::live(opened, device, timeline, &LiveConfig::at(timeline.live_peak().0, TOP_STACKS));
    if !at_peak.groups.is_empty() {
        lines.push("Alive at the peak".to_owned());
        lines.extend(peak::group_lines(&at_peak).into_iter().map(|line| format!("  {line}")));
    }
    add_findings(&mut lines, &diagnosis, (opened.device_word(), &opened.file), terminal);
    Ok(lines)
}

pub(in crate::commands) fn memory_line(opened: &Opened, device: &Device, timeline: &Timeline) -> String {
    let Summary { events, peak_live_bytes, peak_event, peak_reserved_bytes, .. } = Summary::of(device, timeline);
    let (name, events) = (opened.device_name(device.index), counted(events, "event"));
    let (live, reserved) = (bytes(peak_live_bytes), bytes(peak_reserved_bytes));
    let moment = Moment::of_event_number(peak_event);
    format!("{name} · {events} · at most {live} live {moment} · at most {reserved} reserved")
}

/// Adds a line for each finding with its first step, as far as the screen has room.
fn add_findings(lines: &mut Vec<String>, diagnosis: &Diagnosis, (word, file): (&str, &str), terminal: &Terminal) {
    if diagnosis.findings.is_empty() {
        return;
    }
    lines.push(String::new());
    // The last line says where the rest is, and the shell needs one for itself.
    let room = terminal.lines.saturating_sub(lines.len() + 2).max(2);
    let told: Vec<Vec<String>> = { diagnosis.findings.iter() }
        .map(|finding| {
            let step = finding.steps.first().map(|step| format!("  {}", step.text));
            wrapped(&finding.headline(word), terminal.columns).into_iter().chain(step).collect()
        })
        .collect();
    let mut used = 0;
    let shown = told.iter().take_while(|lines| {
        used += lines.len();
        used <= room
    });
    let shown: Vec<String> = shown.flatten().cloned().collect();
    lines.extend(if shown.is_empty() { told[0].clone() } else { shown });
    lines.push(format!("snapscope diagnose {file} tells more"));
}
