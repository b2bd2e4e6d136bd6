//! Hook that sends commands of the page to its timeline.

use crate::state::{Issued, TimelineCommand};
use std::cell::Cell;
use std::rc::Rc;
use yew::prelude::*;

/// Issues commands, each with its own number.
#[derive(Clone, PartialEq)]
pub struct Commands {
    last: UseStateHandle<Option<Issued>>,
    count: Rc<Cell<u32>>,
}

impl Commands {
    /// Returns the last command.
    pub fn last(&self) -> Option<Issued> {
        *self.last
    }

    /// Sends a command to the timeline.
    pub fn issue(&self, command: TimelineCommand) {
        let number = self.count.get().wrapping_add(1);
        self.count.set(number);
        self.last.set(Some(Issued { number, command }));
    }
}

/// Returns the channel for commands to the timeline.
#[hook]
pub fn use_commands() -> Commands {
    let last = use_state_eq(|| None);
    let count = use_memo((), |()| Cell::new(0));
    Commands { last, count }
}
