//! Text of the config, its problems, and the choice of the task.

use frontend::components::icon::{Icon, IconName};
use shared::api::JobTask;
use shared::job::Problem;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

use crate::common::model::refusal::problem_place;
use crate::common::model::task::{sentence, title};

/// Minimum height of the editor, in lines.
const LEAST_LINES: usize = 16;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EditorProps {
    pub text: AttrValue,
    pub problems: Vec<Problem>,
    pub on_change: Callback<String>,
}

/// Shows the text field with its line numbers.
#[component]
pub(crate) fn Editor(props: &EditorProps) -> Html {
    let lines = props.text.matches('\n').count() + 1;
    let rows = lines.max(LEAST_LINES);
    let oninput = props.on_change.reform(|event: InputEvent| {
        event.target_dyn_into::<HtmlTextAreaElement>().map(|field| field.value()).unwrap_or_default()
    });
    let line = |number: usize| {
        let is_wrong = props.problems.iter().any(|problem| problem.place.is_some_and(|place| place.line == number));
        html! { <div class={classes!("line", is_wrong.then_some("wrong"))} data-wrong={is_wrong.then_some("")}>{ number }</div> }
    };
    html! {
        <div class="editor">
            <div class="lines numbers" aria-hidden="true">{ for (1..=lines).map(line) }</div>
            <textarea class="text" value={props.text.clone()} rows={rows.to_string()} {oninput} wrap="off"
                spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="Config"
                aria-invalid={(!props.problems.is_empty()).to_string()} aria-describedby="problems" />
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ProblemListProps {
    /// Problems found; the config is valid if there are none.
    pub problems: Vec<Problem>,
    /// Text that is shown if there are no problems.
    pub fine: AttrValue,
}

/// Shows the problems in a live region, so that screen readers announce changes.
#[component]
pub(crate) fn ProblemList(props: &ProblemListProps) -> Html {
    html! {
        <div id="problems" class="problems" role="status" aria-label="Problems">
            if props.problems.is_empty() {
                <p class="fine"><Icon name={IconName::Done} />{ &props.fine }</p>
            } else {
                <ul>{ for props.problems.iter().map(problem) }</ul>
            }
        </div>
    }
}

fn problem(problem: &Problem) -> Html {
    let place = problem_place(problem);
    html! {
        <li class="problem">
            <Icon name={IconName::Error} />
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

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TaskChoiceProps {
    pub task: JobTask,
    pub on_change: Callback<JobTask>,
}

/// Shows one button for each task, and a sentence on the chosen one.
#[component]
pub(crate) fn TaskChoice(props: &TaskChoiceProps) -> Html {
    let button = |task: JobTask| {
        let onclick = props.on_change.reform(move |_: MouseEvent| task);
        let pressed = (task == props.task).to_string();
        html! { <button type="button" data-task={task.word()} aria-pressed={pressed} {onclick}>{ title(task) }</button> }
    };
    html! {
        <div class="task-choice">
            <div class="segmented" role="group" aria-label="What the job does">{ for JobTask::ALL.into_iter().map(button) }</div>
            <p class="hint">{ sentence(props.task) }</p>
        </div>
    }
}
