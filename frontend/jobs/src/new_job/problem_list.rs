//! List of the problems of a config, each with its line and key.

use crate::common::model::refusal::problem_place;
use frontend::components::icon::{Icon, IconName};
use shared::job::Problem;
use yew::prelude::*;

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
