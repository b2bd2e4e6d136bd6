//! Comparison of ranks on one scale.

use super::hook::{Comparable, DeviceOf, Place, use_ranks};
use super::model::strip;
use super::rank_model::{Part, RankFile, Strip, legend, strips, summary};
use crate::ask::CurveData;
use crate::components::Picture;
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::state::{DockTab, FileAction};
use shared::analysis::Category;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct RanksProps {
    pub(super) devices: Vec<Comparable>,
    pub(super) switches: Html,
}

#[component]
pub(super) fn Ranks(props: &RanksProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let here = Place { file: file.id, device: shown.ready.device };
    let of: Vec<DeviceOf> = props.devices.iter().map(|device| device.of.clone()).collect();
    let answers = use_ranks(of);
    // Answers from before a file was opened or closed belong to other devices.
    let answers = answers.filter(|answers| answers.len() == props.devices.len());
    let strips = use_memo((answers.clone(), props.devices.clone()), |(answers, devices)| {
        let answers = answers.iter().flat_map(|answers| answers.iter());
        let file = |(device, data): (&Comparable, &crate::ask::RankData)| RankFile {
            name: device.file.clone(),
            index: device.index,
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
