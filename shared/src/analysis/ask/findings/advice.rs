//! Defines what to do about a finding: steps with their actions, and the reason for them.
//!
//! Advice is written as one text, so that it reads in the code as it does on the screen: a step is a line, and after an
//! empty line follows why. A line may begin with the kind of its step in brackets, and the code to copy is between
//! double backticks:
//!
//! ```text
//! Run the evaluation under ``with torch.no_grad():``.
//! [show] Look at the live allocations at the peak.
//!
//! The evaluation records an autograd graph although nothing calls backward.
//! ```

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// What to do, the most useful step first.
    pub steps: Vec<AdviceStep>,
    /// Reason why the steps help; empty if the finding itself says it.
    pub why: String,
}

/// One thing to do about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AdviceStep {
    /// What to do, in one or two sentences.
    pub text: String,
    /// What a button beside the text does.
    pub kind: StepKind,
    /// Code for `copy` and `record`; for `try` the variable and the settings, or empty for those of the recording.
    pub value: String,
}

/// What can be done about a step at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Nothing: the step is done in the program's code.
    #[default]
    Read,
    /// The code or the setting can be copied.
    Copy,
    /// The settings can be replayed in What if, and copied.
    Try,
    /// The code records what the finding misses.
    Record,
    /// The timeline shows what the step is about.
    Show,
    /// The finding about what grows says how.
    Cause,
}

crate::names!(StepKind {
    Read => "read",
    Copy => "copy",
    Try => "try",
    Record => "record",
    Show => "show",
    Cause => "cause",
});

const COPIED: &str = "``";

impl Advice {
    /// Reads advice in the notation of this module.
    pub fn of(text: &str) -> Self {
        let (steps, why) = text.split_once("\n\n").unwrap_or((text, ""));
        let steps = steps.lines().filter(|line| !line.trim().is_empty()).map(AdviceStep::of).collect();
        Self { steps, why: why.trim().replace('\n', " ") }
    }

    /// Puts a step in the notation of this module before the others.
    pub fn first(mut self, step: &str) -> Self {
        self.steps.insert(0, AdviceStep::of(step));
        self
    }

    /// Adds a step in the notation of this module.
    pub fn then(mut self, step: &str) -> Self {
        self.steps.push(AdviceStep::of(step));
        self
    }

    pub fn because(mut self, sentence: &str) -> Self {
        let space = if self.why.is_empty() || sentence.is_empty() { "" } else { " " };
        self.why += &format!("{space}{sentence}");
        self
    }

    pub fn text(&self) -> String {
        let texts = self.steps.iter().map(|step| step.text.as_str()).chain([self.why.as_str()]);
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl AdviceStep {
    /// Reads a step in the notation of this module.
    pub fn of(line: &str) -> Self {
        let line = line.trim();
        let named = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let named = named.and_then(|(name, text)| Some((StepKind::of_name(name)?, text)));
        let text = named.map_or(line, |named| named.1);
        let code = text.split(COPIED).nth(1).unwrap_or_default();
        let kind = named.map_or(if code.is_empty() { StepKind::Read } else { StepKind::Copy }, |named| named.0);
        Self { text: text.replace(COPIED, "`"), kind, value: code.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, kind: StepKind, value: &str, text: &str) {
        assert_eq!(AdviceStep::of(line), AdviceStep { text: text.to_owned(), kind, value: value.to_owned() });
    }

    #[test]
    fn a_step_names_its_kind_and_its_code() {
        check("Call `f()`.", StepKind::Read, "", "Call `f()`.");
        check("Call ``f()``.", StepKind::Copy, "f()", "Call `f()`.");
        check("[try] Set ``A=b:1``: it fits.", StepKind::Try, "A=b:1", "Set `A=b:1`: it fits.");
        check("[record] Call ``f()`` first.", StepKind::Record, "f()", "Call `f()` first.");
        check("[show] Look at it.", StepKind::Show, "", "Look at it.");
        check("[1] is no kind.", StepKind::Read, "", "[1] is no kind.");
    }

    #[test]
    fn advice_is_steps_and_a_reason() {
        let advice = Advice::of("Do ``a``.\nOr do b.\n\nIt is\nso.");
        assert_eq!(advice.steps.len(), 2);
        assert_eq!(advice.why, "It is so.");
        assert_eq!(advice.text(), "Do `a`. Or do b. It is so.");
        assert_eq!(Advice::of("\n\nThis is normal."), Advice::default().because("This is normal."));
        let more = Advice::of("Do a.").then("[show] Look.").because("So.").because("And so.");
        assert_eq!(more.text(), "Do a. Look. So. And so.");
    }
}
