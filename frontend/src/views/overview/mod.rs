//! All devices of a file, and files named as ranks, under each other on one axis of time, and the choice of one.

pub mod model;

use self::model::{Place, drawing, places};
use super::head::model::device_name;
use crate::ask::{DeviceFigures, GetStrip, StripData};
use crate::components::{Picture, bound, by_position, options, passing, tab_keys, toggling};
use crate::hooks::{Peer, use_answer, use_file};
use crate::platform::{WorkerClient, store, stored};
use crate::state::{FileAction, FileId, ReadyFile};
use shared::analysis::rank_of_name;
use shared::base::{ShortSort, format};
use std::rc::Rc;
use yew::prelude::*;

const COLUMNS: u32 = 320;

/// Storage key of the choice to fold the overview.
const FOLDED: &str = "snapscope-overview";

#[derive(Clone, PartialEq, Properties)]
pub struct OverviewProps {
    pub peers: Vec<Peer>,
}

#[derive(Clone, PartialEq)]
struct Row {
    file: FileId,
    device: u32,
    name: String,
    client: WorkerClient,
    peak: String,
    /// Known problem; may be empty.
    problem: String,
    /// True if the figures have arrived, so that the worker answers at once.
    is_ready: bool,
}

/// Shows a row per device with its curve, its peak and its problem; folded, it is a list of the file's devices.
#[component]
pub fn Overview(props: &OverviewProps) -> Html {
    let is_folded = use_state_eq(|| stored(FOLDED).as_deref() == Some("folded"));
    let are_all = use_state_eq(|| false);
    let id = use_file().id;
    let Some(shown) = props.peers.iter().find(|peer| peer.id == id) else { return Html::default() };
    let picker = html! { <DevicePicker file={shown.file.clone()} /> };
    let rows = rows(shown, &props.peers, *are_all);
    if rows.len() < 2 {
        return picker;
    }
    let onclick = bound(is_folded.clone(), move |is_folded, _: MouseEvent| {
        store(FOLDED, if **is_folded { "" } else { "folded" });
        is_folded.set(!**is_folded);
    });
    let fold = |words: &'static str| {
        html! {
            <button type="button" class="button quiet" aria-expanded={(!*is_folded).to_string()}
                onclick={onclick.clone()}>{ words }</button>
        }
    };
    if *is_folded {
        return html! { <div class="overview folded">{ picker }{ fold("Show all devices") }</div> };
    }
    let chosen = rows.iter().position(|row| row.file == id && row.device == shown.file.device).unwrap_or(0);
    html! {
        <section class="overview" aria-label="All devices" data-overview={rows.len().to_string()}>
            <Rows {rows} chosen={chosen as u32}>
                { unused_button("button quiet", unused(shown), &are_all) }
                { fold("Fold") }
            </Rows>
        </section>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct RowsProps {
    rows: Vec<Row>,
    chosen: u32,
    children: Html,
}

#[component]
fn Rows(props: &RowsProps) -> Html {
    let RowsProps { rows, chosen, children } = props.clone();
    let file = use_file();
    let asked: Vec<_> = rows.iter().filter(|row| row.is_ready).map(|row| (row.client.clone(), row.device)).collect();
    let strips = use_answer(asked, |asked| async move {
        let mut strips = Vec::new();
        for (client, device) in asked {
            strips.push(((client.clone(), device), client.ask(GetStrip { device, columns: COLUMNS }).await?));
        }
        Ok(strips)
    });
    let found = |row: &Row| {
        let of = (row.client.clone(), row.device);
        strips.as_deref()?.iter().find(|(other, _)| *other == of).map(|(_, strip)| strip)
    };
    let known: Vec<&StripData> = rows.iter().filter_map(found).collect();
    let top_bytes = known.iter().flat_map(|strip| &strip.bytes).copied().max().unwrap_or(0);
    let (common, places) = places(&known);
    let mut places = places.into_iter();
    let choose = bound(rows.clone(), move |rows, position: u32| {
        let row = &rows[position as usize];
        file.act(FileAction::Show(row.file));
        file.act(FileAction::ChooseDevice(row.device));
    });
    let onkeydown = tab_keys(chosen, rows.len() as u32, true, choose.clone());
    let mut row = |(position, row): (u32, &Row)| {
        let strip = found(row).cloned().and_then(|strip| Some((strip, places.next()?)));
        let onclick = passing(&choose, position);
        row_view(row, (position, position == chosen), strip, top_bytes, onclick)
    };
    let views: Vec<Html> = (0..).zip(&rows).map(&mut row).collect();
    html! {
        <>
            <div class="overview-rows" role="tablist" aria-label="Devices" aria-orientation="vertical" {onkeydown}>
                { for views }
            </div>
            <div class="overview-note"><span>{ common.words() }</span>{ children }</div>
        </>
    }
}

/// Returns the rows: the GPUs of the shown file, or of all files if their names are those of ranks.
///
/// Unused devices are left out unless `are_all`; the shown one is always there.
fn rows(shown: &Peer, peers: &[Peer], are_all: bool) -> Vec<Row> {
    let is_rank = |peer: &&Peer| rank_of_name(&peer.name).is_some();
    let mut files: Vec<&Peer> = if is_rank(&shown) { peers.iter().filter(is_rank).collect() } else { vec![shown] };
    files.short_sort_by_key(|peer| rank_of_name(&peer.name));
    let are_several = files.len() > 1;
    let is_listed = |peer: &Peer, device: u32| {
        let is_shown = peer.id == shown.id && (device == peer.file.device || are_all);
        is_shown || !peer.file.is_unused(device as usize)
    };
    let of_file = |peer: &Peer| {
        let devices = 0..peer.file.summary.devices.len() as u32;
        let devices: Vec<u32> = devices.filter(|&device| is_listed(peer, device)).collect();
        devices.iter().map(|&device| row_of(peer, device, are_several, devices.len() > 1)).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(of_file).collect()
}

fn row_of(peer: &Peer, device: u32, are_several: bool, has_others: bool) -> Row {
    let file = &peer.file;
    let index = file.summary.devices[device as usize].index;
    let name = match (rank_of_name(&peer.name).filter(|_| are_several), device_name(index)) {
        (Some(rank), gpu) if has_others => format!("Rank {rank} · {gpu}"),
        (Some(rank), _) => format!("Rank {rank}"),
        (None, gpu) => gpu,
    };
    let growth = file.findings.as_ref().and_then(|findings| findings.growth_of(index));
    let growth = growth.map(|growth| growth.bytes_per_step).filter(|&bytes| bytes > 0);
    Row {
        file: peer.id,
        device,
        name,
        client: peer.client.clone(),
        peak: live_text(file, device),
        problem: match growth {
            _ if file.is_out_of_memory(device as usize) => " · out of memory".to_owned(),
            Some(bytes) => format!(" · +{} per step", format::bytes(bytes)),
            None => String::new(),
        },
        is_ready: file.figures[device as usize].is_some(),
    }
}

fn unused(peer: &Peer) -> usize {
    (0..peer.file.summary.devices.len()).filter(|&device| peer.file.is_unused(device)).count()
}

fn row_view(
    row: &Row,
    (position, is_chosen): (u32, bool),
    strip: Option<(StripData, Place)>,
    top_bytes: u64,
    onclick: Callback<MouseEvent>,
) -> Html {
    html! {
        <button type="button" role="tab" key={format!("{}/{}", row.file, row.device)} class="overview-row"
            data-device={row.device.to_string()} data-tab={position.to_string()} aria-selected={is_chosen.to_string()}
            tabindex={if is_chosen { "0" } else { "-1" }} {onclick}>
            <strong class="overview-name">{ &row.name }</strong>
            <StripView {strip} {top_bytes} />
            <span class="overview-peak numbers">
                { &row.peak }<span class="overview-problem">{ &row.problem }</span>
            </span>
        </button>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct StripViewProps {
    strip: Option<(StripData, Place)>,
    top_bytes: u64,
}

#[component]
fn StripView(props: &StripViewProps) -> Html {
    let (strip, scheme) = (Rc::new(props.strip.clone()), use_file().scheme);
    let draw = use_callback((strip, props.top_bytes, scheme), |size, (strip, top_bytes, scheme)| match &**strip {
        Some((strip, place)) => drawing(strip, *place, *top_bytes, size, scheme.theme()),
        None => drawing(&StripData::default(), Place { start: 0.0, end: 1.0 }, 1, size, scheme.theme()),
    });
    html! { <Picture class="overview-strip" {draw} /> }
}

/// Maximum number of devices shown as tabs; more do not fit.
const TABS_AT_MOST: usize = 8;

#[derive(Clone, PartialEq, Properties)]
struct DevicePickerProps {
    file: ReadyFile,
}

/// Shows the devices of a file; renders nothing if there is only one.
#[component]
fn DevicePicker(props: &DevicePickerProps) -> Html {
    let on_choose = use_file().acting(FileAction::ChooseDevice);
    let are_all = use_state_eq(|| false);
    let count = props.file.summary.devices.len() as u32;
    let used = props.file.used_devices();
    let unused = count as usize - used.len();
    let listed = if *are_all { (0..count).collect() } else { used };
    if count <= 1 {
        return Html::default();
    }
    let choice = if listed.len() <= TABS_AT_MOST { tabs } else { list };
    html! {
        <div class="devices">
            { choice(&props.file, &listed, &on_choose) }
            { unused_button("button quiet unused", unused, &are_all) }
        </div>
    }
}

/// Shows the button that lists devices without anything, or hides them again; renders nothing if there are none.
fn unused_button(class: &'static str, unused: usize, are_all: &UseStateHandle<bool>) -> Html {
    html! {
        if unused > 0 {
            <button type="button" {class} aria-expanded={are_all.to_string()} onclick={toggling(are_all)}
                title="Devices without events or memory">
                { if **are_all { "Hide unused".to_owned() } else { format!("{unused} unused") } }
            </button>
        }
    }
}

fn tabs(file: &ReadyFile, listed: &[u32], on_choose: &Callback<u32>) -> Html {
    let place_of = |device: u32| listed.iter().position(|&other| other == device).unwrap_or(0);
    let on_place = {
        let listed = listed.to_vec();
        on_choose.reform(move |place: u32| listed[place as usize])
    };
    let onkeydown = tab_keys(place_of(file.device) as u32, listed.len() as u32, false, on_place);
    let tab = |&position: &u32| {
        let is_chosen = position == file.device;
        let is_failed = file.is_out_of_memory(position as usize);
        let onclick = passing(on_choose, position);
        html! {
            <button type="button" role="tab" class={classes!("device-tab", is_failed.then_some("failed"))}
                data-device={position.to_string()} data-tab={place_of(position).to_string()}
                aria-selected={is_chosen.to_string()} tabindex={if is_chosen { "0" } else { "-1" }} {onclick}>
                <span class="device-name">{ device_name(file.summary.devices[position as usize].index) }</span>
                <span class="device-peak numbers">{ peak_text(file, position) }</span>
            </button>
        }
    };
    html! {
        <div class="device-tabs" role="tablist" aria-label="Devices" {onkeydown}>{ for listed.iter().map(tab) }</div>
    }
}

fn list(file: &ReadyFile, listed: &[u32], on_choose: &Callback<u32>) -> Html {
    let positions = listed.to_vec();
    let onchange = by_position(listed.len(), &on_choose.reform(move |place: usize| positions[place]));
    let text = |&position: &u32| {
        let name = device_name(file.summary.devices[position as usize].index);
        AttrValue::from(format!("{name} · {}", peak_text(file, position)))
    };
    let texts: Vec<AttrValue> = listed.iter().map(text).collect();
    let chosen = listed.iter().position(|position| *position == file.device);
    html! {
        <label class="device-list">
            <span>{ "Device" }</span>
            <select {onchange}>{ options(&texts, chosen.unwrap_or(usize::MAX)) }</select>
        </label>
    }
}

fn live_text(file: &ReadyFile, position: u32) -> String {
    let figures = file.figures[position as usize].as_ref();
    let text = |figures: &Rc<DeviceFigures>| format!("peak live {}", format::bytes(figures.summary.peak_live_bytes));
    figures.map_or_else(|| "…".to_owned(), text)
}

fn peak_text(file: &ReadyFile, position: u32) -> String {
    let is_out = file.is_out_of_memory(position as usize);
    format!("{}{}", live_text(file, position), if is_out { " · out of memory" } else { "" })
}
