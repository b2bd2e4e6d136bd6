//! Implements `--own`, which says what counts as the user's own code in labels of stacks.

use clap::Args;
use shared::base::OwnCode;

use crate::snapshot_file::Opened;

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
    /// Returns the rule for the user's own code.
    pub(super) fn rule(&self) -> OwnCode {
        self.own.as_deref().map_or(OwnCode::Automatic, OwnCode::of_text)
    }

    /// Returns the snapshot with stacks named by the rule.
    pub(super) fn apply(&self, mut opened: Opened) -> Opened {
        opened.trace.set_own_code(self.rule());
        opened
    }
}
