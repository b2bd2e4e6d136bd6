//! Root component of the job pages: the header, and the page that the address names.

use crate::common::browser::{page_path, search_words};
use crate::common::hooks::{Fetched, use_fetched, use_token};
use crate::common::model::route::Route;
use crate::common::parts::{TokenDialog, no_server};
use crate::gallery::see::SeePage;
use crate::job::JobPage;
use crate::list::ListPage;
use crate::new_job::NewJobPage;
use frontend::components::site_header::{Place, scheme_switch, site_header};
use frontend::hooks::use_scheme;
use frontend::platform::search_param;
use shared::api::ServerLimits;
use yew::prelude::*;

fn wait_ms(limits: &Fetched<ServerLimits>) -> Option<u32> {
    // A server that has answered is asked rarely, since its pages send requests of their own. It is still asked because
    // its devices come and go with its workers (server processes).
    let is_settled = limits.answer.as_ref().is_some_and(|limits| !limits.is_recorder_being_built);
    Some(if is_settled { 30_000 } else { 4000 })
}

/// Returns the route of the page's address.
fn route() -> Route {
    // A parameter without a value, as in `?new`, counts too.
    let has_new = search_words().split('&').any(|word| word == "new" || word.starts_with("new="));
    Route::of(&page_path(), |name| if name == "new" { has_new.then(String::new) } else { search_param(name) })
}

#[component]
pub(crate) fn App() -> Html {
    let scheme = use_scheme();
    let route = use_memo((), |()| route());
    let limits = use_fetched::<ServerLimits>(Some("limits".to_owned()), wait_ms);
    let token = use_token();
    let shown = match (&limits.now.answer, &limits.now.error) {
        (None, Some(_)) => no_server(&limits.again()),
        (None, None) => html! { <main class="state"><p role="status">{ "Contacting the server…" }</p></main> },
        (Some(limits), _) => match &*route {
            Route::List => html! { <ListPage limits={limits.clone()} /> },
            Route::New(start, change) => html! {
                <NewJobPage start={start.clone()} change={change.clone()} limits={limits.clone()} token={token.clone()} />
            },
            Route::See(name) => html! { <SeePage name={name.clone()} token={token.clone()} /> },
            Route::Job(id) => html! { <JobPage id={id.clone()} scheme={scheme.scheme()} token={token.clone()} /> },
        },
    };
    let choice = scheme.choice();
    let on_scheme = Callback::from(move |choice| scheme.choose(choice));
    html! {
        <>
            { site_header(Place::Jobs, Html::default(), scheme_switch(choice, &on_scheme)) }
            { shown }
            if token.is_asked() {
                <TokenDialog token={token.clone()} />
            }
        </>
    }
}
