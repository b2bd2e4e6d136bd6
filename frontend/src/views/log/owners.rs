//! Bar that divides the memory of a GPU between its owners.

use super::model::shares;
use crate::state::Scheme;
use shared::base::format;
use shared::report::LogOwners;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct OwnersBarProps {
    pub(super) owners: LogOwners,
    pub(super) scheme: Scheme,
}

/// Shows the owners of a GPU's memory as a bar with a legend.
#[component]
pub(super) fn OwnersBar(props: &OwnersBarProps) -> Html {
    let OwnersBarProps { owners, scheme } = props;
    let shares = shares(owners, scheme.theme());
    let rect = |share: &super::model::Share| {
        html! { <rect x={share.start.to_string()} width={share.width.to_string()} height="20" fill={share.color.css()} /> }
    };
    let entry = |share: &super::model::Share| {
        html! {
            <li>
                <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
                    <rect width="18" height="10" fill={share.color.css()} />
                </svg>
                { share.name.clone() }{ " " }<strong class="numbers">{ format::bytes(share.bytes) }</strong>
            </li>
        }
    };
    html! {
        <figure class="log-owner">
            <figcaption>{ &owners.title }{ " · " }{ format::bytes(owners.capacity_bytes) }{ " in all" }</figcaption>
            <svg class="log-bar" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
                { for shares.iter().map(rect) }
            </svg>
            <ul class="log-legend">{ for shares.iter().map(entry) }</ul>
        </figure>
    }
}
