//! Dialog that shares a copy of the shown file.
//!
//! The worker sanitizes and compresses a copy; the dialog shows what the copy leaves out, every text that is left, and
//! its size, and uploads it when the user says so.
//! A link stores the view in the same text that follows the `#` in the address of a local file, search texts included,
//! as the dialog says.
//! The token that deletes a link is in the storage of the browser that made the link, and nowhere else in plain text.

pub mod hook;
pub mod kept_links;
pub mod links_dialog;
pub mod model;
pub mod remaining;
pub mod remaining_model;

mod cuts;
mod done;
mod form;

use self::done::Done;
use self::form::Form;
use self::hook::use_sharing;
use crate::ask::FileSummary;
use crate::components::dialog::Dialog;
use crate::platform::WorkerClient;
use crate::state::{SendStep, ServerState, ViewState};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ShareDialogProps {
    pub client: WorkerClient,
    pub summary: Rc<FileSummary>,
    /// The view that the link restores.
    pub view: ViewState,
    pub on_close: Callback<()>,
}

/// Shows what would be sent, the upload, and then the link.
#[component]
pub fn ShareDialog(props: &ShareDialogProps) -> Html {
    let sharing = use_sharing(&props.client, &props.view);
    let is_sending = matches!(sharing.state().sending, SendStep::Sending { .. });
    let body = match (&sharing.state().sending, &sharing.state().server) {
        (SendStep::Done(link), _) => {
            html! { <Done link={link.clone()} on_delete={let sharing = sharing.clone(); move |link| sharing.delete(link)} /> }
        }
        (_, ServerState::Asking) => html! { <p class="hint" role="status">{ "Contacting the server…" }</p> },
        (_, ServerState::Away) => no_server(),
        (_, ServerState::There(_)) => {
            html! { <Form {sharing} annotations={props.summary.annotations} on_close={props.on_close.clone()} /> }
        }
    };
    html! {
        <Dialog id="share-title" title="Share a copy" class="share" on_close={props.on_close.clone()} is_light={!is_sending}>
            { body }
        </Dialog>
    }
}

fn no_server() -> Html {
    html! {
        <>
            <p class="share-lead">{ "Links need a Snapscope server, and no server responds at this address." }</p>
            <p class="hint">
                { "Nothing has been uploaded. To share links, run " }<code>{ "snapscope serve" }</code>
                { " and open the page from that server. You can also send the file itself, which opens on this page too." }
            </p>
        </>
    }
}
