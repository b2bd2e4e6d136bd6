//! Reads the parameters of a tool as options of the command that answers it, so that both take and refuse the same.

use std::ffi::OsString;

use clap::{Args, Command};
use serde::Serialize;
use serde_json::Value;

use crate::Failure;

/// The words of a command line.
#[derive(Debug)]
pub(super) struct Words(Vec<OsString>);

impl Words {
    /// Takes parameters as options of the same names, besides those in `others`.
    pub(super) fn of(parameters: &impl Serialize, others: &[&str]) -> Self {
        let parameters = serde_json::to_value(parameters).unwrap_or_default();
        let parameters = parameters.as_object().into_iter().flatten();
        let option = |(name, value): (&String, &Value)| {
            let name = name.replace('_', "-");
            match value {
                Value::Null | Value::Bool(false) => None,
                Value::Bool(true) => Some(format!("--{name}")),
                Value::String(text) => Some(format!("--{name}={text}")),
                other => Some(format!("--{name}={other}")),
            }
        };
        let options = parameters.filter(|(name, _)| !others.contains(&name.as_str())).filter_map(option);
        Self(options.map(OsString::from).collect())
    }

    /// Adds a word that is no option.
    pub(super) fn word(mut self, word: impl Into<OsString>) -> Self {
        self.0.push(word.into());
        self
    }

    /// Adds what follows all options.
    pub(super) fn last<W: Into<OsString>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.0.push("--".into());
        self.0.extend(words.into_iter().map(Into::into));
        self
    }

    pub(super) fn behind(self, name: &str) -> Vec<OsString> {
        [name.into()].into_iter().chain(self.0).collect()
    }

    /// Reads the words.
    ///
    /// # Errors
    ///
    /// Returns what clap says about a wrong value.
    pub(super) fn read<A: Args>(self) -> Result<A, Failure> {
        let command = A::augment_args(Command::new("snapscope")).no_binary_name(true).disable_help_flag(true);
        let matches = command.try_get_matches_from(self.0);
        matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| {
            let text = error.to_string();
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Usage:"));
            let message = lines.next().unwrap_or_default().trim_start_matches("error: ");
            let hint = lines.find(|line| line.starts_with('[') || line.starts_with("tip:"));
            let hint = hint.unwrap_or("correct this parameter; the options are named like the parameters");
            Failure::new(message, hint.trim_start_matches("tip: "))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::{PeakArgs, ReplayArgs};

    #[test]
    fn wrong_values_are_refused_with_the_right_ones() {
        let words = |parameters: Value| Words::of(&parameters, &["snapshot"]).last(["a.pickle"]);
        let right = json!({ "snapshot": 1, "by": "stack", "top": null, "filter": "a", "regex": true });
        assert!(words(right).read::<PeakArgs>().is_ok());
        let words = words(json!({ "by": "colour" }));
        let failure = words.read::<PeakArgs>().unwrap_err();
        assert!(failure.message.contains("'colour'") && failure.hint.contains("category"), "{failure:?}");
        let words = Words::of(&json!({ "capacity": "a lot" }), &[]).last(["a.pickle"]);
        assert!(words.read::<ReplayArgs>().unwrap_err().message.contains("a lot"));
    }
}
