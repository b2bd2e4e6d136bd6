//! Page that opens recordings of the gallery in the viewer, once the server has them.

use super::recording::GalleryRecording;
use crate::common::browser::replace_by;
use crate::common::model::route::{Route, viewer_path};
use crate::common::use_token::TokenHandle;
use frontend::platform::{set_title, site_url};
use std::collections::BTreeMap;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SeePageProps {
    /// Names of the configs, in the order in which the viewer opens their recordings.
    pub names: Vec<String>,
    pub token: TokenHandle,
}

/// Ids of the jobs by the names of their configs, as far as they are recorded.
#[derive(Default, PartialEq)]
struct Recorded(BTreeMap<String, String>);

impl Reducible for Recorded {
    type Action = (String, String);

    fn reduce(self: Rc<Self>, (name, id): (String, String)) -> Rc<Self> {
        let mut recorded = self.0.clone();
        recorded.insert(name, id);
        Rc::new(Self(recorded))
    }
}

/// Shows the progress of each recording, then goes to the viewer.
#[component]
pub(crate) fn SeePage(props: &SeePageProps) -> Html {
    use_effect_with((), |()| set_title("Gallery – Snapscope"));
    let recorded = use_reducer_eq(Recorded::default);
    let ids: Option<Vec<String>> = props.names.iter().map(|name| recorded.0.get(name).cloned()).collect();
    use_effect_with(ids, |ids| {
        if let Some(ids) = ids {
            replace_by(&viewer_path(ids));
        }
    });
    let recording = |name: &String| {
        let (dispatcher, key) = (recorded.dispatcher(), name.clone());
        let on_recorded = Callback::from(move |id| dispatcher.dispatch((key.clone(), id)));
        html! { <GalleryRecording key={name.clone()} name={name.clone()} token={props.token.clone()} {on_recorded} /> }
    };
    html! {
        <main class="page">
            <nav class="way-back" aria-label="Back"><a href={site_url(&Route::List.path())}>{ "All jobs" }</a></nav>
            <h1 class="page-title">{ "Opening the recording" }</h1>
            <p class="hint" role="status">
                { "The viewer opens when the recording is there. The first one to open it waits a few seconds, while the \
                   server records it." }
            </p>
            { for props.names.iter().map(recording) }
        </main>
    }
}
