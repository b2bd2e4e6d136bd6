//! Sentence about the shown device: what ran, on what, and what went wrong or how much room is left.

use crate::hooks::use_shown;
use crate::state::ReadyFile;
use shared::report::RunOfDevice;
use yew::prelude::*;

/// Shows the sentence; its line is reserved while findings are awaited, so that nothing moves when they arrive.
#[component]
pub fn Headline() -> Html {
    let shown = use_shown();
    let run = run_of(&shown.ready);
    let has_problem = run.is_some_and(|run| run.has_problem);
    html! {
        <p class={classes!("headline", has_problem.then_some("problem"))} role="status" data-headline="">
            { for run.map(|run| &run.headline) }
        </p>
    }
}

/// Returns the run of the shown device, once the findings have arrived; devices without memory have none.
fn run_of(file: &ReadyFile) -> Option<&RunOfDevice> {
    file.findings.as_ref()?.runs.iter().find(|run| run.device == file.device_index())
}
