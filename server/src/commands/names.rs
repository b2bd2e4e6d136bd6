//! Parses options that several commands have: `--own`, which says what counts as the user's own code in labels of
//! stacks, and those whose values are the names of an enum.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use shared::base::OwnCode;

use crate::snapshot_file::Opened;

/// Creates the parser for the names of some variants, each with its meaning in the help.
pub(super) fn names<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    meaning: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let values = all.map(|one| PossibleValue::new(name(one)).help(meaning(one)));
    let of_name = move |text: String| all.into_iter().find(|&one| name(one) == text);
    PossibleValuesParser::new(values).map(move |text| of_name(text).expect("only names are possible"))
}

/// The option of commands that print stacks.
#[derive(Debug, Clone, Default, Args)]
// Otherwise clap shows the doc comment above as the description of each command that has this option.
#[command(about = None, long_about = None)]
pub(super) struct OwnOption {
    /// Name stacks by the innermost frame in paths with this text, for example src/ or mymodel,train.py; after ! by
    /// any frame outside such paths [default: outside installed packages and the standard library]
    #[arg(long, value_name = "PATTERN")]
    own: Option<String>,
}

impl OwnOption {
    pub(super) fn rule(&self) -> OwnCode {
        self.own.as_deref().map_or(OwnCode::Automatic, OwnCode::of_text)
    }

    /// Returns the snapshot with stacks named by the rule.
    pub(super) fn apply(&self, mut opened: Opened) -> Opened {
        opened.trace.set_own_code(self.rule());
        opened
    }
}
