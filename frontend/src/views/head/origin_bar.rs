//! Bar above the figures that tells where a file came from, and why its view was not restored.

use crate::components::icon::{Icon, IconName};
use crate::hooks::use_file;
use crate::state::{FileAction, LinkFacts, Origin};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct OriginBarProps {
    pub origin: Origin,
    /// Message about the file's view.
    pub notice: Option<Rc<str>>,
}

/// Shows a line about a shared copy, and one about a view that could not be restored.
#[component]
pub fn OriginBar(props: &OriginBarProps) -> Html {
    let on_dismiss = use_file().acting(|_: MouseEvent| FileAction::DismissNotice);
    html! {
        <>
            if let Origin::Link(facts) = &props.origin { { shared_copy(facts) } }
            if let Some(notice) = &props.notice {
                <p class="origin notice warning" role="status" data-view-notice="">
                    <Icon name={IconName::Warning} /><span>{ &**notice }</span>
                    <button type="button" class="button quiet square" onclick={on_dismiss} aria-label="Dismiss">
                        <Icon name={IconName::Close} />
                    </button>
                </p>
            }
        </>
    }
}

fn shared_copy(facts: &LinkFacts) -> Html {
    let LinkFacts { title, created, expires, cuts } = facts;
    let ends = expires.as_ref().map_or_else(|| "never expires".to_owned(), |end| format!("expires {end}"));
    html! {
        <p class="origin" data-shared="">
            <Icon name={IconName::Share} />
            <span>
                <strong>{ title }</strong>
                { format!(" · Shared copy from {created}, {ends}") }
                if let Some(cuts) = cuts { <span class="origin-cuts">{ format!(" · {cuts}") }</span> }
            </span>
        </p>
    }
}
