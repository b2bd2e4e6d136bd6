//! Compare tab of the dock: two moments of one file or of two, or ranks next to each other.

pub mod hook;
pub mod model;
mod moments;
pub mod rank_model;
mod table;

use self::hook::{Comparable, DeviceOf, Place};
use self::model::strip;
use self::moments::Moments;
use self::rank_model::{Part, RankFile, Strip, legend, strips, summary};
use crate::ask::{CurveData, DeviceOutline, GetRank, RankData};
use crate::components::{Picture, choice, segmented};
use crate::hooks::{FileHandle, Peer, use_answer, use_file, use_shown};
use crate::state::{DockTab, FileAction};
use shared::analysis::Category;
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
        let onclick = file.clicked(FileAction::ChooseRanks(to_ranks));
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

const STRIP_COLUMNS: u32 = 160;

#[derive(Clone, PartialEq, Properties)]
struct RanksProps {
    devices: Vec<Comparable>,
    switches: Html,
}

#[component]
fn Ranks(props: &RanksProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let here = Place { file: file.id, device: shown.ready.device };
    let of: Vec<DeviceOf> = props.devices.iter().map(|device| device.of.clone()).collect();
    let answers = use_answer(of, |of| async move {
        let mut ranks = Vec::new();
        for DeviceOf { client, device } in of {
            ranks.push(client.ask(GetRank { device, columns: STRIP_COLUMNS }).await?);
        }
        Ok(ranks)
    });
    // Answers from before a file was opened or closed belong to other devices.
    let answers = answers.filter(|answers| answers.len() == props.devices.len());
    let strips = use_memo((answers.clone(), props.devices.clone()), |(answers, devices)| {
        let answers = answers.iter().flat_map(|answers| answers.iter());
        let file = |(Comparable { file, index, .. }, data): (&Comparable, &RankData)| RankFile {
            name: file.clone(),
            index: *index,
            data: data.clone(),
        };
        strips(&devices.iter().zip(answers).map(file).collect::<Vec<_>>())
    });
    let said = if answers.is_some() { summary(&strips) } else { "Analyzing each rank…".to_owned() };
    let line = |strip: &Strip| line(&file, here, props.devices[strip.file].place, strip);
    html! {
        <div class="compare" data-ranks={strips.len().to_string()}>
            <div class="compare-head">
                { props.switches.clone() }
                <span class="numbers" role="status">{ said }</span>
                <ul class="compare-legend compare-parts">{ for legend(&strips).into_iter().map(part_key) }</ul>
            </div>
            <ol class="compare-ranks" aria-label="Ranks">{ for strips.iter().map(line) }</ol>
        </div>
    }
}

fn part_key(category: Category) -> Html {
    html! {
        <li>
            <svg class="compare-key" viewBox="0 0 18 10" aria-hidden="true">
                <rect class={part_class(category)} width="18" height="10" />
            </svg>
            <span>{ category.plural() }</span>
        </li>
    }
}

fn part_class(category: Category) -> String {
    format!("compare-part-{}", category.name())
}

fn line(file: &FileHandle, here: Place, place: Place, strip: &Strip) -> Html {
    let file = file.clone();
    let onclick = move |_: MouseEvent| {
        file.act(FileAction::Show(place.file));
        file.act(FileAction::ChooseDevice(place.device));
        file.act(FileAction::ChooseDock(Some(DockTab::Compare)));
    };
    let class = classes!("compare-rank", (!strip.unusual.is_empty()).then_some("unusual"));
    let part = |part: &Part| {
        html! {
            <rect class={part_class(part.category)} x={part.x.to_string()} width={part.width.to_string()} height="10">
                <title>{ &part.label }</title>
            </rect>
        }
    };
    let parts = strip.parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join("; ");
    html! {
        <li key={format!("{}/{}", place.file, place.device)}>
            <button type="button" {class} {onclick} aria-current={(place == here).then_some("true")}>
                <span class="compare-rank-name">
                    <strong>{ &strip.title }</strong>
                    <span class="compare-callee">{ &strip.note }</span>
                </span>
                <RankCurve curve={strip.curve.clone()} top_bytes={strip.top_bytes} />
                <span class="compare-rank-peak numbers">
                    <strong>{ &strip.peak }</strong>
                    <svg class="compare-peak" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img"
                        aria-label={parts}>{ for strip.parts.iter().map(part) }</svg>
                    <span class="compare-callee">{ &strip.facts }</span>
                </span>
                { for strip.unusual.iter().map(|sentence| html! { <span class="compare-unusual">{ sentence }</span> }) }
            </button>
        </li>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct RankCurveProps {
    curve: CurveData,
    top_bytes: u64,
}

#[component]
fn RankCurve(props: &RankCurveProps) -> Html {
    let drawn = (props.clone(), use_file().scheme);
    let draw = use_callback(drawn, |size, (RankCurveProps { curve, top_bytes }, scheme)| {
        strip(curve, *top_bytes, size, scheme.theme())
    });
    html! { <Picture class="compare-strip" {draw} /> }
}
