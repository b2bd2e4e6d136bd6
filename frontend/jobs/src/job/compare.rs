//! Select box that opens a job's snapshot next to that of another job.

use crate::common::browser::{clock_ms, go_to};
use crate::common::model::job::recording;
use crate::common::model::time;
use crate::common::use_fetched::{Fetched, use_fetched};
use shared::api::{JobList, JobResource};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CompareProps {
    /// Id of the job.
    pub id: AttrValue,
}

fn wait_ms(_: &Fetched<JobList>) -> Option<u32> {
    None
}

/// Lists other finished jobs with a snapshot; choosing one opens both in the viewer.
#[component]
pub(crate) fn Compare(props: &CompareProps) -> Html {
    let jobs = use_fetched::<JobList>(Some("jobs?state=finished&limit=100".to_owned()), wait_ms);
    let others = jobs.now.answer.as_ref().map(|list| list.jobs.clone()).unwrap_or_default();
    let others: Vec<JobResource> =
        others.into_iter().filter(|job| *job.id != *props.id && job.snapshot_bytes.is_some()).collect();
    if others.is_empty() {
        return Html::default();
    }
    let id = props.id.clone();
    let onchange = move |event: Event| {
        let other = event.target_dyn_into::<HtmlSelectElement>().map(|select| select.value()).unwrap_or_default();
        if !other.is_empty() {
            go_to(&format!("?job={id}&job={other}"));
        }
    };
    let option = |job: &JobResource| {
        let text = format!("{} · {}", recording(job), time::ago(clock_ms(), job.created_ms));
        html! { <option value={job.id.clone()}>{ text }</option> }
    };
    html! {
        <select class="select compare" aria-label="Compare with another recording" {onchange}>
            <option value="" selected=true>{ "Compare with…" }</option>
            { for others.iter().map(option) }
        </select>
    }
}
