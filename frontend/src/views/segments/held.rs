//! List of segments that a few live bytes keep from being returned to CUDA.

use super::draw::block_at_addr;
use super::model::{HeldGroup, held_groups};
use crate::ask::SegmentsData;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct HeldListProps {
    pub(super) data: Rc<SegmentsData>,
    /// Called with the position of the block to show.
    pub(super) on_show: Callback<usize>,
}

/// Shows the segments with the most free bytes first, those of one stack in a line; a click shows the largest block.
#[component]
pub(super) fn HeldList(props: &HeldListProps) -> Html {
    let data = &props.data;
    let row = |HeldGroup { free, by, title, first }: HeldGroup| {
        let row = &data.reserved.held[first];
        let largest = row.holders.first().and_then(|holder| block_at_addr(data, row.addr, holder.addr));
        let on_show = props.on_show.clone();
        let onclick = move |_: MouseEvent| largest.iter().for_each(|&block| on_show.emit(block));
        html! {
            <li>
                <button type="button" class="held" title="Show the block in the map" {onclick}>
                    <span class="held-free numbers">{ free }<small>{ " free" }</small></span>
                    <span class="held-title">{ title }</span>
                    <span class="held-by numbers">{ by }</span>
                </button>
            </li>
        }
    };
    html! {
        <aside class="held-list" aria-label="Mostly free segments">
            <h2 title="At most a quarter of each segment is in use, but it can't be returned to CUDA">{ "Mostly free segments" }</h2>
            if data.reserved.held.is_empty() {
                <p class="panel-empty">{ "No segment in use is mostly free" }</p>
            } else {
                <ol>{ for held_groups(&data.reserved.held).into_iter().map(row) }</ol>
            }
            if data.reserved.other_held > 0 {
                <p class="panel-empty">{ format!("{} more", format::counted(data.reserved.other_held, "segment")) }</p>
            }
        </aside>
    }
}
