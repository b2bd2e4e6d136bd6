//! Compare tab of the dock: two moments of one file or of two, or ranks next to each other.

pub mod hook;
pub mod model;
pub mod rank_model;

mod moments;
mod ranks;
mod table;

use self::hook::{Comparable, DeviceOf, Place};
use self::moments::Moments;
use self::ranks::Ranks;
use crate::ask::DeviceOutline;
use crate::components::{choice, segmented};
use crate::hooks::{Peer, use_file, use_shown};
use crate::state::FileAction;
use yew::prelude::*;

/// Returns all devices of open files that had memory.
fn comparables(peers: &[Peer]) -> Vec<Comparable> {
    let of_peer = |peer: &Peer| {
        let devices = (0..).zip(&peer.file.summary.devices);
        let figures = |device: u32| peer.file.figures.get(device as usize).and_then(Option::as_ref);
        let has_memory = |device: u32, outline: &DeviceOutline| match figures(device) {
            Some(figures) => figures.summary.peak_live_bytes + figures.summary.peak_reserved_bytes > 0,
            None => outline.reserved_bytes > 0,
        };
        // Negative indices are pinned host memory, which is not a rank and has no counterpart.
        let used = devices.filter(|(device, outline)| outline.index >= 0 && has_memory(*device, outline));
        let of_device = |(device, outline): (u32, &DeviceOutline)| Comparable {
            place: Place { file: peer.id, device },
            of: DeviceOf { client: peer.client.clone(), device },
            file: peer.name.to_string(),
            index: outline.index,
        };
        used.map(of_device).collect::<Vec<_>>()
    };
    peers.iter().flat_map(of_peer).collect()
}

/// Shows the two kinds of comparison; ranks are offered only if there are several devices.
#[component]
pub(super) fn Compare() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let devices = comparables(&shown.peers);
    let has_ranks = devices.len() > 1;
    let switch = |(to_ranks, label)| {
        let onclick = file.acting(move |_: MouseEvent| FileAction::ChooseRanks(to_ranks));
        choice(label, "", shown.are_ranks == to_ranks, Some(onclick))
    };
    let switches =
        html! { if has_ranks { { segmented("Compare", [(false, "Moments"), (true, "Ranks")].map(switch)) } } };
    if shown.are_ranks && has_ranks {
        html! { <Ranks {devices} {switches} /> }
    } else {
        html! { <Moments {devices} {switches} /> }
    }
}
