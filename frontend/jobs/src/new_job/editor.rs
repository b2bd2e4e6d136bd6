//! Text of the config, its problems, and the choice of the task.

use frontend::components::icon::{IconName, icon};
use shared::api::JobTask;
use shared::job::Problem;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::common::model::refusal::problem_place;
use crate::common::model::task::{sentence, title};

/// Minimum height of the editor, in lines.
const LEAST_LINES: usize = 16;

/// Shows the text field, with its name for screen readers and its line numbers.
pub(crate) fn editor(name: &'static str, text: &str, problems: &[Problem], on_change: &Callback<String>) -> Html {
    let lines = text.matches('\n').count() + 1;
    let rows = lines.max(LEAST_LINES);
    let oninput = on_change.reform(|event: InputEvent| {
        event.target_dyn_into::<HtmlTextAreaElement>().map(|field| field.value()).unwrap_or_default()
    });
    let line = |number: usize| {
        let is_wrong = problems.iter().any(|problem| problem.place.is_some_and(|place| place.line == number));
        html! { <div class={classes!("line", is_wrong.then_some("wrong"))} data-wrong={is_wrong.then_some("")}>{ number }</div> }
    };
    html! {
        <div class="editor">
            <div class="lines numbers" aria-hidden="true">{ for (1..=lines).map(line) }</div>
            <textarea class="text" value={text.to_owned()} rows={rows.to_string()} {oninput} wrap="off"
                spellcheck="false" autocapitalize="off" autocomplete="off" aria-label={name}
                aria-invalid={(!problems.is_empty()).to_string()} aria-describedby="problems" />
        </div>
    }
}

/// Shows the problems, or else `fine`, in a live region, so that screen readers announce changes.
pub(crate) fn problem_list(problems: &[Problem], fine: &'static str) -> Html {
    html! {
        <div id="problems" class="problems" role="status" aria-label="Problems">
            if problems.is_empty() {
                <p class="fine">{ icon(IconName::Done) }{ fine }</p>
            } else {
                <ul>{ for problems.iter().map(problem) }</ul>
            }
        </div>
    }
}

fn problem(problem: &Problem) -> Html {
    let place = problem_place(problem);
    html! {
        <li class="problem">
            { icon(IconName::Error) }
            <div>
                if !place.is_empty() {
                    <p class="problem-place">{ place }</p>
                }
                <p>{ &problem.message }</p>
                if !problem.hint.is_empty() {
                    <p class="hint">{ &problem.hint }</p>
                }
            </div>
        </li>
    }
}

/// Shows one button for each task, and a sentence on the chosen one.
pub(crate) fn task_choice(chosen: JobTask, on_change: &Callback<JobTask>) -> Html {
    let button = |task: JobTask| {
        let onclick = on_change.reform(move |_: MouseEvent| task);
        let pressed = (task == chosen).to_string();
        html! { <button type="button" data-task={task.word()} aria-pressed={pressed} {onclick}>{ title(task) }</button> }
    };
    html! {
        <div class="task-choice">
            <div class="segmented" role="group" aria-label="What the job does">{ for JobTask::ALL.into_iter().map(button) }</div>
            <p class="hint">{ sentence(chosen) }</p>
        </div>
    }
}
