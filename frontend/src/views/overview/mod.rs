//! All devices of a file, and files named as ranks, under each other on one axis of time.

pub mod model;

use self::model::{Place, drawing, places};
use crate::ask::{GetStrip, StripData};
use crate::components::picture::Picture;
use crate::components::tab_keys::tab_keys;
use crate::hooks::{Peer, use_answer};
use crate::platform::{WorkerClient, store, stored};
use crate::state::{FileAction, FileId, Scheme};
use crate::views::head::device_picker::DevicePicker;
use crate::views::head::figures_model::device_name;
use shared::analysis::rank_of_name;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

/// Number of columns of a strip.
const COLUMNS: u32 = 320;

/// Storage key of the choice to fold the overview.
const FOLDED: &str = "snapscope-overview";

#[derive(Clone, PartialEq, Properties)]
pub struct OverviewProps {
    /// File that is shown.
    pub id: FileId,
    /// All open files, including the shown one.
    pub peers: Vec<Peer>,
    pub scheme: Scheme,
    pub on_action: Callback<FileAction>,
}

/// Device of an open file.
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
    let rows = rows(props);
    let asked: Vec<_> = rows.iter().filter(|row| row.is_ready).map(|row| (row.client.clone(), row.device)).collect();
    let strips =
        use_answer(if *is_folded || rows.len() < 2 { Vec::new() } else { asked.clone() }, |asked| async move {
            let mut strips = Vec::new();
            for (client, device) in asked {
                strips.push(((client.clone(), device), client.ask(GetStrip { device, columns: COLUMNS }).await?));
            }
            Ok(strips)
        });
    let Some(shown) = props.peers.iter().find(|peer| peer.id == props.id) else { return Html::default() };
    let on_device = props.on_action.reform(FileAction::ChooseDevice);
    let picker = html! { <DevicePicker file={shown.file.clone()} on_choose={on_device} /> };
    if rows.len() < 2 {
        return picker;
    }
    let onclick = {
        let is_folded = is_folded.clone();
        Callback::from(move |_: MouseEvent| {
            store(FOLDED, if *is_folded { "" } else { "folded" });
            is_folded.set(!*is_folded);
        })
    };
    let fold = |words: &'static str| {
        html! {
            <button type="button" class="button quiet overview-fold" aria-expanded={(!*is_folded).to_string()}
                onclick={onclick.clone()}>{ words }</button>
        }
    };
    if *is_folded {
        return html! { <div class="overview folded">{ picker }{ fold("Show all devices") }</div> };
    }
    let found = |row: &Row| {
        let strips = strips.as_deref()?;
        strips.iter().find(|(of, _)| *of == (row.client.clone(), row.device)).map(|(_, strip)| strip)
    };
    let known: Vec<&StripData> = rows.iter().filter_map(found).collect();
    let (common, places) = places(&known);
    let top_bytes = known.iter().flat_map(|strip| &strip.bytes).copied().max().unwrap_or(0);
    let mut places = places.into_iter();
    let is_shown = |row: &Row| row.file == props.id && row.device == shown.file.device;
    let chosen = rows.iter().position(is_shown).unwrap_or(0) as u32;
    let choose = {
        let (rows, on_action) = (rows.clone(), props.on_action.clone());
        Callback::from(move |position: u32| {
            let row = &rows[position as usize];
            on_action.emit(FileAction::Show(row.file));
            on_action.emit(FileAction::ChooseDevice(row.device));
        })
    };
    let onkeydown = tab_keys(chosen, rows.len() as u32, choose.clone());
    let row = |(position, row): (usize, &Row)| {
        let strip = found(row).cloned().zip(places_of(found(row), &mut places));
        let onclick = choose.reform(move |_: MouseEvent| position as u32);
        row_view(row, (position, position as u32 == chosen), strip, (top_bytes, props.scheme), onclick)
    };
    let rows_shown: Vec<Html> = rows.iter().enumerate().map(row).collect();
    let unused = unused(shown);
    html! {
        <section class="overview" aria-label="All devices" data-overview={rows.len().to_string()}>
            <div class="overview-rows" role="tablist" aria-label="Devices" aria-orientation="vertical" {onkeydown}>
                { for rows_shown }
            </div>
            <p class="overview-note">
                { common.words() }
                if unused > 0 { { format!(" · {unused} unused") } }
                { fold("Fold") }
            </p>
        </section>
    }
}

/// Takes the next place for a row that has a strip.
fn places_of(strip: Option<&StripData>, places: &mut impl Iterator<Item = Place>) -> Option<Place> {
    strip.and_then(|_| places.next())
}

/// Returns the rows: the used GPUs of the shown file, or of all files if their names are those of ranks.
fn rows(props: &OverviewProps) -> Vec<Row> {
    let Some(shown) = props.peers.iter().find(|peer| peer.id == props.id) else { return Vec::new() };
    let is_rank = |peer: &&Peer| rank_of_name(&peer.name).is_some();
    let mut files: Vec<&Peer> = match is_rank(&shown) {
        true => props.peers.iter().filter(is_rank).collect(),
        false => vec![shown],
    };
    files.sort_by_key(|peer| rank_of_name(&peer.name));
    let are_several = files.len() > 1;
    files.into_iter().flat_map(|peer| rows_of(peer, are_several)).collect()
}

fn rows_of(peer: &Peer, are_several: bool) -> Vec<Row> {
    let file = &peer.file;
    let devices: Vec<u32> = { 0..file.summary.devices.len() as u32 }
        .filter(|&device| !file.is_unused(device as usize) || (!are_several && device == file.device))
        .collect();
    let is_alone = devices.len() == 1;
    let row = |device: u32| {
        let figures = file.figures[device as usize].as_ref();
        let gpu = device_name(file.summary.devices[device as usize].index);
        let name = match (are_several, rank_of_name(&peer.name)) {
            (true, Some(rank)) if is_alone => format!("Rank {rank}"),
            (true, Some(rank)) => format!("Rank {rank} · {gpu}"),
            _ => gpu,
        };
        let index = file.summary.devices[device as usize].index;
        let growth = file.findings.as_ref().and_then(|findings| findings.growth_of(index));
        let growth = growth.map(|growth| growth.bytes_per_step).filter(|&bytes| bytes > 0);
        Row {
            file: peer.id,
            device,
            name,
            client: peer.client.clone(),
            peak: figures.map_or_else(
                || "…".to_owned(),
                |of| format!("peak live {}", format::bytes(of.summary.peak_live_bytes)),
            ),
            problem: match growth {
                _ if file.is_out_of_memory(device as usize) => "out of memory".to_owned(),
                Some(bytes) => format!("+{} per step", format::bytes(bytes)),
                None => String::new(),
            },
            is_ready: figures.is_some(),
        }
    };
    devices.into_iter().map(row).collect()
}

/// Returns the number of the file's devices without anything.
fn unused(peer: &Peer) -> usize {
    (0..peer.file.summary.devices.len()).filter(|&device| peer.file.is_unused(device)).count()
}

fn row_view(
    row: &Row,
    (position, is_chosen): (usize, bool),
    strip: Option<(StripData, Place)>,
    (top_bytes, scheme): (u64, Scheme),
    onclick: Callback<MouseEvent>,
) -> Html {
    html! {
        <button type="button" role="tab" key={format!("{}/{}", row.file, row.device)} class="overview-row"
            data-device={row.device.to_string()} data-tab={position.to_string()} aria-selected={is_chosen.to_string()}
            tabindex={if is_chosen { "0" } else { "-1" }} {onclick}>
            <strong class="overview-name">{ &row.name }</strong>
            <StripView {strip} {top_bytes} {scheme} />
            <span class="overview-peak numbers">{ &row.peak }</span>
            <span class="overview-problem">{ &row.problem }</span>
        </button>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct StripViewProps {
    strip: Option<(StripData, Place)>,
    /// Bytes at the top, the same for all rows.
    top_bytes: u64,
    scheme: Scheme,
}

/// Draws the live bytes of one device.
#[component]
fn StripView(props: &StripViewProps) -> Html {
    let strip = Rc::new(props.strip.clone());
    let draw =
        use_callback((strip, props.top_bytes, props.scheme), |size, (strip, top_bytes, scheme)| match &**strip {
            Some((strip, place)) => drawing(strip, *place, *top_bytes, size, scheme.theme()),
            None => drawing(&StripData::default(), Place { start: 0.0, end: 1.0 }, 1, size, scheme.theme()),
        });
    html! { <Picture class="overview-strip" {draw} /> }
}
