//! Texts and numbers of the panel's findings, of the memory that stays after steps, and of the choice of a card.

use crate::ask::RecordedSetup;
use crate::state::ThisCard;
use crate::views::what_if::model::{CardOption, cards};
use shared::analysis::{ClassTotal, Confidence, FindingCode, GrowthClass, RunKind};
use shared::base::{Severity, format};
use shared::report::{Diagnosis, Finding, RunOfDevice};

/// Minimum number of steps from which growth can be judged.
const LEAST_STEPS: u64 = 3;

pub fn problem_count(diagnosis: &Diagnosis) -> usize {
    diagnosis.findings.iter().filter(|finding| finding.severity > Severity::Info).count()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    pub title: String,
    pub growth: String,
    /// Sentence that lists what was looked for, if no problem was found; else empty.
    pub looked_for: String,
}

pub fn lead(diagnosis: &Diagnosis) -> Lead {
    let lead = |title: &str, growth| Lead { title: title.to_owned(), growth, looked_for: String::new() };
    if diagnosis.findings.is_empty() {
        return lead("No findings", "No memory was in use in this trace.".to_owned());
    }
    let growth = growth(diagnosis);
    let is_judged = !diagnosis.findings.iter().any(|finding| finding.code == FindingCode::TooLittleRecorded);
    match counts_of_problems(diagnosis).as_str() {
        "" if !is_judged => lead("Not enough recorded to judge", growth),
        "" => Lead { looked_for: looked_for(), ..lead("No problem found", growth) },
        problems => lead(problems, growth),
    }
}

/// Returns the numbers of errors and warnings in words; empty if there are none.
pub fn counts_of_problems(diagnosis: &Diagnosis) -> String {
    let count = |severity: Severity, noun: &str| {
        let count = diagnosis.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        (count > 0).then(|| format::counted(count, noun))
    };
    let problems = [count(Severity::Error, "error"), count(Severity::Warning, "warning")];
    problems.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn looked_for() -> String {
    let mut checks: Vec<&str> = FindingCode::ALL.into_iter().filter_map(FindingCode::checked_for).collect();
    checks.dedup();
    format!("Checked for: {}.", checks.join(", "))
}

/// Describes whether memory grows on any device, as far as the trace's steps tell.
fn growth(diagnosis: &Diagnosis) -> String {
    let compared = |run: &RunOfDevice| {
        diagnosis.growth_of(run.device).map_or((0, 0), |growth| (growth.bytes_per_step, growth.steps))
    };
    let runs = diagnosis.runs.iter().map(|run| (compared(run), run.kind));
    let Some(((bytes_per_step, steps), kind)) = runs.max_by_key(|(compared, _)| *compared) else {
        return "Growth can't be judged: no device was in use.".to_owned();
    };
    let unit = if kind == RunKind::Training { "step" } else { "call" };
    let grows = match (bytes_per_step, steps) {
        (1.., _) => format!("Memory grows by {} per {unit}.", format::bytes(bytes_per_step)),
        (0, 0) => "Growth can't be judged: nothing in the trace repeats.".to_owned(),
        (0, 1..LEAST_STEPS) => {
            format!("Growth can't be judged from {}: record at least three.", format::counted(steps, unit))
        }
        (0, _) => {
            format!("Memory does not grow from {unit} to {unit}: {} were compared.", format::counted(steps, unit))
        }
    };
    format!("The trace shows {}. {grows}", kind.words())
}

pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "Note",
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    }
}

pub fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "Confidence: low. Other causes would look the same.",
        Confidence::Medium => "Confidence: medium. The trace suggests it; frames that would confirm it are missing.",
        Confidence::High => "Confidence: high.",
    }
}

/// Returns the first and the last moment of a finding's evidence; `None` if it has no events.
///
/// The moment after event `i` is `i + 1`.
pub fn moments(finding: &Finding) -> Option<(u32, u32)> {
    let moments = || finding.evidence.events.iter().map(|event| event.saturating_add(1));
    Some((moments().min()?, moments().max()?))
}

/// Returns the settings of an assignment such as `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.
pub fn conf_of(assignment: &str) -> &str {
    assignment.split_once('=').map_or(assignment, |(_, conf)| conf)
}

/// Returns the parts of a sentence, each with true if it is code, which is between backticks.
pub fn prose(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split('`').enumerate().map(|(index, part)| (index % 2 == 1, part)).filter(|(_, part)| !part.is_empty())
}

/// Replaces the spaces between figures and their units, so that no line breaks there.
pub fn unbroken(words: &str) -> String {
    [" %", " KiB", " MiB", " GiB", " TiB"]
        .iter()
        .fold(words.to_owned(), |words, unit| words.replace(unit, &unit.replace(' ', "\u{a0}")))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowthLine {
    pub name: &'static str,
    /// Explanation of the reason: a sentence without its full stop.
    pub hint: &'static str,
    pub end: String,
    /// Rise per step, or a dash if there is none.
    pub per_step: String,
    /// First and last step with a rise, counted from 1.
    pub when: String,
    pub is_leak: bool,
}

pub fn growth_line(row: &ClassTotal) -> GrowthLine {
    let hint = match row.class {
        GrowthClass::Leak => "It grows until the end of the trace",
        GrowthClass::OptimizerState => "The optimizer allocates it in its first update: not a leak",
        GrowthClass::WarmUp => "It was allocated in the first steps and has not grown since: not a leak",
        GrowthClass::Cache => "It fills up, or rises and falls below a limit: not a leak, as far as the trace shows",
        GrowthClass::OneOff => "It was allocated once in a later step: not a leak, as far as the trace shows",
    };
    let (first, last) = (row.first_rise + 1, row.last_rise + 1);
    GrowthLine {
        name: row.class.words(),
        hint,
        end: format::bytes(row.end_bytes),
        per_step: if row.bytes_per_step > 0 {
            format!("+{}", format::bytes(row.bytes_per_step))
        } else {
            "–".to_owned()
        },
        when: if first == last { first.to_string() } else { format!("{first}–{last}") },
        is_leak: row.class == GrowthClass::Leak,
    }
}

/// Returns the names of the cards to choose from, `None` for an unknown one: that of the recording, all named ones, and
/// the chosen one if it is none of these.
pub fn card_options(recorded_bytes: Option<u64>, chosen: Option<ThisCard>) -> Vec<(String, Option<ThisCard>)> {
    let recorded = RecordedSetup { capacity_bytes: recorded_bytes, ..RecordedSetup::default() };
    let of_option = |CardOption { label, capacity_bytes, elsewhere_bytes }| match capacity_bytes {
        Some(capacity_bytes) => (label, Some(ThisCard { capacity_bytes, elsewhere_bytes })),
        None => ("unknown".to_owned(), None),
    };
    let mut options: Vec<_> = cards(&recorded).into_iter().map(of_option).collect();
    // The chosen card may be that of another device's recording.
    if let Some(card) = chosen.filter(|_| options.iter().all(|(_, card)| *card != chosen)) {
        options.push((format::bytes(card.capacity_bytes), chosen));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::{Evidence, Growth};

    fn finding(severity: Severity) -> Finding {
        Finding {
            code: FindingCode::Peak,
            severity,
            confidence: Confidence::High,
            device: 0,
            bytes: 0,
            at_peak: shared::analysis::AtPeak::default(),
            title: String::new(),
            line: None,
            evidence: Evidence::default(),
            parts: Vec::new(),
            target: None,
            advice: String::new(),
            steps: Vec::new(),
            why: String::new(),
        }
    }

    /// Creates a diagnosis of a training; `compared` has the number of steps and the bytes per step for each device.
    fn diagnosis(severities: &[Severity], compared: &[(u64, u64)]) -> Diagnosis {
        let run = |device| RunOfDevice { device, kind: RunKind::Training, ..RunOfDevice::default() };
        let growth = |(device, &(steps, bytes_per_step))| Growth { device, steps, bytes_per_step, ..Growth::default() };
        Diagnosis {
            runs: (0..compared.len() as i64).map(run).collect(),
            findings: severities.iter().copied().map(finding).collect(),
            growth: (0..).zip(compared).map(growth).collect(),
        }
    }

    #[track_caller]
    fn check(diagnosis: &Diagnosis, title: &str, growth: &str) {
        let lead = lead(diagnosis);
        let said = lead.growth.strip_prefix("The trace shows training. ").unwrap_or(&lead.growth);
        assert_eq!((lead.title.as_str(), said), (title, growth));
        let looked_for = "Checked for: memory growth, out-of-memory errors, tensors that outlive their step, several \
                          autograd graphs at once, an emptied cache, unused reserved memory, a 16-bit loss.";
        assert_eq!(lead.looked_for, if title == "No problem found" { looked_for } else { "" });
    }

    #[test]
    fn problems_are_counted() {
        use Severity::{Error, Info, Warning};
        let found = diagnosis(&[Error, Warning, Warning, Info], &[(5, 1 << 20), (5, 0)]);
        assert_eq!(problem_count(&found), 3);
        check(&found, "1 error, 2 warnings", "Memory grows by 1.00 MiB per step.");
    }

    #[test]
    fn without_problems_it_is_said_what_was_looked_for() {
        let healthy = |steps| diagnosis(&[Severity::Info], &[(steps, 0)]);
        check(&healthy(12), "No problem found", "Memory does not grow from step to step: 12 steps were compared.");
        check(&healthy(2), "No problem found", "Growth can't be judged from 2 steps: record at least three.");
        check(&healthy(0), "No problem found", "Growth can't be judged: nothing in the trace repeats.");
        let mut little = healthy(1);
        little.findings[0].code = FindingCode::TooLittleRecorded;
        let growth = "Growth can't be judged from 1 step: record at least three.";
        check(&little, "Not enough recorded to judge", growth);
        check(&diagnosis(&[], &[]), "No findings", "No memory was in use in this trace.");
    }

    #[test]
    fn evidence_lies_between_its_first_and_last_event() {
        let of = |events: &[u32]| {
            let evidence = Evidence { events: events.to_vec(), ..Evidence::default() };
            moments(&Finding { evidence, ..finding(Severity::Info) })
        };
        assert_eq!(of(&[7, 3, 5]), Some((4, 8)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn code_figures_and_settings_are_told_from_words() {
        assert_eq!(conf_of("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), "expandable_segments:True");
        assert_eq!(conf_of(""), "");
        assert_eq!(unbroken("8.84 GiB is 66 % of it"), "8.84\u{a0}GiB is 66\u{a0}% of it");
        let parts: Vec<_> = prose("Call `f()` here.").collect();
        assert_eq!(parts, [(false, "Call "), (true, "f()"), (false, " here.")]);
        assert_eq!(prose("`f()`").collect::<Vec<_>>(), [(true, "f()")]);
    }

    #[test]
    fn rows_count_steps_from_one() {
        let row = |class, bytes_per_step, first_rise, last_rise| ClassTotal {
            class,
            bytes_per_step,
            end_bytes: 2 << 20,
            end_count: 1,
            groups: 1,
            first_rise,
            last_rise,
        };
        let rows = [row(GrowthClass::Leak, 1 << 20, 0, 8), row(GrowthClass::OptimizerState, 0, 0, 0)];
        let lines = rows.each_ref().map(growth_line);
        let written: Vec<_> =
            lines.iter().map(|line| (line.name, line.per_step.as_str(), line.when.as_str())).collect();
        assert_eq!(written, [("grows", "+1.00 MiB", "1–9"), ("optimizer state", "–", "1")]);
        assert_eq!((lines[0].is_leak, lines[1].is_leak), (true, false));
    }

    #[test]
    fn the_chosen_card_is_among_the_options() {
        let card = |capacity_bytes| Some(ThisCard { capacity_bytes, elsewhere_bytes: 0 });
        let plain = card_options(None, None);
        assert_eq!(plain[0], ("unknown".to_owned(), None));
        assert!(plain.iter().any(|(label, _)| label.starts_with("t4-16gb")));
        let recorded = card_options(Some(3 << 30), card(3 << 30));
        assert_eq!(recorded.len(), plain.len() + 1);
        let other = card_options(Some(3 << 30), card(2 << 30));
        assert_eq!(other.last(), Some(&("2.00 GiB".to_owned(), card(2 << 30))));
    }
}
