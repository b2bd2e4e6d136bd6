//! Bar of the reserved bytes, split into their parts.

use super::model::{facts, parts};
use crate::ask::Fragmentation;
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct WasteProps {
    /// The parts; `None` until they are known.
    pub(super) parts: Option<Fragmentation>,
}

/// Shows a bar of all parts, and the size and definition of each.
#[component]
pub(super) fn Waste(props: &WasteProps) -> Html {
    let bytes = props.parts.unwrap_or_default();
    let parts = parts(&bytes);
    let bar = parts.iter().filter(|part| part.bar.1 > 0.0).map(|part| {
        let (x, width) = (format!("{:.3}%", part.bar.0), format!("{:.3}%", part.bar.1));
        html! { <rect class={format!("part-{}", part.class)} {x} {width} height="10" /> }
    });
    let term = parts.iter().map(|part| {
        html! {
            <div class="waste-part" title={part.meaning}>
                <dt>
                    <svg class="waste-key" width="9" height="9" aria-hidden="true">
                        <rect class={format!("part-{}", part.class)} width="9" height="9" rx="2" />
                    </svg>
                    { part.label }<span class="visually-hidden">{ format!(": {}", part.meaning) }</span>
                </dt>
                <dd class="numbers"><strong>{ &part.size }</strong>{ " " }{ &part.share }</dd>
            </div>
        }
    });
    let fact = facts(&bytes).into_iter().map(|(label, size, meaning)| {
        html! {
            <div class="waste-part" title={meaning}>
                <dt>{ label }<span class="visually-hidden">{ format!(": {meaning}") }</span></dt>
                <dd class="numbers"><strong>{ size }</strong></dd>
            </div>
        }
    });
    html! {
        <div class="waste" role="group" aria-label="Reserved memory by use" aria-busy={props.parts.is_none().to_string()}>
            <svg class="waste-bar" height="10" role="img"
                aria-label={format!("{} reserved, by use", format::bytes(bytes.reserved_bytes))}>{ for bar }</svg>
            <dl class="waste-parts">
                <div class="waste-part">
                    <dt>{ "Reserved" }</dt>
                    <dd class="numbers"><strong>{ format::bytes(bytes.reserved_bytes) }</strong></dd>
                </div>
                { for term }
                { for fact }
            </dl>
        </div>
    }
}
