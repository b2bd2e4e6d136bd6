//! Buttons for what can be done with a job.

use super::change::{Delete, Rename};
use super::compare::Compare;
use super::use_orders::Order;
use crate::common::model::route::{Change, Route, Start};
use frontend::components::dialog::Dialog;
use frontend::components::icon::{Icon, IconName};
use frontend::platform::{api_url, site_url};
use shared::api::{JobResource, JobState, JobTask};
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct JobActionsProps {
    pub job: JobResource,
    /// True once the job was asked to end.
    pub is_ending: bool,
    pub on_order: Callback<Order>,
}

/// Offers what the job's state allows: open, compare, download, run again, rename, cancel, delete.
#[component]
pub(crate) fn JobActions(props: &JobActionsProps) -> Html {
    let JobResource { id, state, name, snapshot_bytes, task, .. } = &props.job;
    let other = |task| site_url(&Route::New(Start::Job(id.clone()), Change::to_task(task)).path());
    let again = site_url(&Route::new_job(Start::Job(id.clone())).path());
    let on_cancel = props.on_order.reform(|()| Order::Cancel);
    html! {
        <div class="actions">
            if let Some(size_bytes) = snapshot_bytes {
                <a class="button primary" href={site_url(&format!("?job={id}"))}>
                    <Icon name={IconName::Peak} />{ "Open in viewer" }
                </a>
                <Compare id={id.clone()} />
                <a class="button" href={api_url(&format!("jobs/{id}/snapshot"))} download="">
                    <Icon name={IconName::Drop} />{ format!("Download ({})", format::bytes(*size_bytes)) }
                </a>
            }
            <a class="button" href={again}><Icon name={IconName::Again} />{ "Run again with…" }</a>
            if *task == JobTask::Record {
                <a class="button" href={other(JobTask::Fit)}>{ "Find the largest batch" }</a>
                <a class="button" href={other(JobTask::Sweep)}>{ "Sweep…" }</a>
            }
            <Rename name={name.clone()} on_rename={props.on_order.reform(Order::Rename)} />
            if state.is_over() {
                <Delete has_snapshot={snapshot_bytes.is_some()} on_delete={props.on_order.reform(|()| Order::Delete)} />
            } else {
                <Cancel is_running={*state == JobState::Running} is_ending={props.is_ending} {on_cancel} />
            }
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct CancelProps {
    /// True if the job is running, so that cancelling it loses what it has recorded.
    is_running: bool,
    /// True once the job was asked to end.
    is_ending: bool,
    on_cancel: Callback<()>,
}

/// Shows the cancel button; a running job is cancelled only after a confirmation.
#[component]
fn Cancel(props: &CancelProps) -> Html {
    let is_asked = use_state_eq(|| false);
    let set = |asked: bool| {
        let is_asked = is_asked.clone();
        Callback::from(move |()| is_asked.set(asked))
    };
    let onclick = if props.is_running { set(true) } else { props.on_cancel.clone() };
    let confirm = {
        let (close, on_cancel) = (set(false), props.on_cancel.clone());
        move |_: MouseEvent| {
            close.emit(());
            on_cancel.emit(());
        }
    };
    html! {
        <>
            <button type="button" class="button" disabled={props.is_ending}
                onclick={onclick.reform(|_: MouseEvent| ())}>
                <Icon name={IconName::Stop} />{ if props.is_ending { "Cancelling…" } else { "Cancel" } }
            </button>
            if *is_asked {
                <Dialog id="cancel-title" class="small" title="Cancel this job?" on_close={set(false)}>
                    <p class="hint">{ "The job is running. What it has recorded so far will be lost." }</p>
                    <div class="card-foot">
                        <button type="button" class="button primary" onclick={confirm}>{ "Cancel the job" }</button>
                        <button type="button" class="button" onclick={set(false).reform(|_: MouseEvent| ())}>{ "Let it run" }</button>
                    </div>
                </Dialog>
            }
        </>
    }
}
