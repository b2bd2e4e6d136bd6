//! Reads the parameters of a tool as options of the command that answers it, so that both take and refuse the same.

use std::ffi::OsString;

use clap::{Args, Command};

use crate::Failure;

/// The words of a command line.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<OsString>);

impl Words {
    /// Adds an option if it has a value.
    pub(super) fn option(mut self, name: &str, value: Option<impl ToString>) -> Self {
        self.0.extend(value.map(|value| format!("--{name}={}", value.to_string()).into()));
        self
    }

    /// Adds an option without a value if it is set.
    pub(super) fn flag(mut self, name: &str, is_set: Option<bool>) -> Self {
        self.0.extend((is_set == Some(true)).then(|| format!("--{name}").into()));
        self
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

    /// Returns the words behind the name of a command.
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
    use super::*;
    use crate::commands::{PeakArgs, ReplayArgs};

    #[test]
    fn wrong_values_are_refused_with_the_right_ones() {
        let words = || Words::default().option("by", Some("stack")).option("top", None::<u32>);
        assert!(words().last(["a.pickle"]).read::<PeakArgs>().is_ok());
        let words = Words::default().option("by", Some("colour")).last(["a.pickle"]);
        let failure = words.read::<PeakArgs>().unwrap_err();
        assert!(failure.message.contains("'colour'") && failure.hint.contains("category"), "{failure:?}");
        let words = Words::default().option("capacity", Some("a lot")).last(["a.pickle"]);
        assert!(words.read::<ReplayArgs>().unwrap_err().message.contains("a lot"));
    }
}
