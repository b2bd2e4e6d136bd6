//! Choice of what a new job does.

use crate::common::model::task::{sentence, title};
use shared::api::JobTask;
use yew::prelude::*;

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
