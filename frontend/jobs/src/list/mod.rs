//! Page with the list of jobs and the gallery.

mod jobs;

use self::jobs::JobList;
use crate::common::model::route::{Route, Start};
use crate::gallery::Gallery;
use frontend::components::icon::{Icon, IconName};
use frontend::platform::{set_title, site_url};
use shared::api::ServerLimits;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ListPageProps {
    pub limits: Rc<ServerLimits>,
}

/// Shows the jobs above the gallery's configs.
#[component]
pub(crate) fn ListPage(props: &ListPageProps) -> Html {
    use_effect_with((), |()| set_title("Jobs – Snapscope"));
    html! {
        <main class="page">
            <header class="page-head">
                <div>
                    <h1 class="page-title">{ "Record a training run" }</h1>
                    <p class="hint">{ "Run a training config on a virtual or real GPU to get its memory snapshot." }</p>
                </div>
                <a class="button primary" href={site_url(&Route::new_job(Start::Example).path())}>
                    <Icon name={IconName::Add} />{ "New job" }
                </a>
            </header>
            if props.limits.is_recorder_being_built {
                <p class="note" role="status">
                    <Icon name={IconName::Info} />
                    { "The recorder is still being built on this machine, which takes some minutes. Jobs that you submit \
                       now start when it is ready." }
                </p>
            } else if props.limits.kinds.is_empty() {
                <p class="note warning" role="status">
                    <Icon name={IconName::Warning} />
                    { "No worker is available. Submitted jobs wait until a worker takes them." }
                </p>
            }
            { for props.limits.problems.iter().map(|(kind, problem)| html! {
                <p class="note warning" role="status">
                    <Icon name={IconName::Warning} />
                    <span class="note-text">
                        { format!("No job can run on {kind} at this time: {problem}. The worker tries again every minute.") }
                    </span>
                </p>
            }) }
            <JobList />
            <Gallery />
        </main>
    }
}
