//! What the tools answer: reports that commands print as well, each with the next useful questions.

mod live;
mod looking;
mod making;
mod question;
mod trying;

pub(super) use live::{allocations, diff, peak};
pub(super) use looking::{findings, open, summary};
pub(super) use making::{fit, fix, run};
pub(super) use trying::replay;
