//! Strip above the timeline with the bookmarks and the measurement, if there are any.

pub mod model;

use self::model::{bookmark_name, measure_text};
use crate::ask::{Axis, GetMoments};
use crate::components::icon::{Icon, IconName};
use crate::hooks::use_answer;
use crate::platform::WorkerClient;
use crate::state::{Bookmark, Measure, PointAction, Points, TimelineCommand};
use std::rc::Rc;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PointsBarProps {
    pub client: WorkerClient,
    /// Position of the shown device.
    pub device: u32,
    /// CUDA index of the shown device.
    pub index: i64,
    pub points: Rc<Points>,
    pub on_point: Callback<PointAction>,
    /// Called with a command that moves the timeline.
    pub on_command: Callback<TimelineCommand>,
}

/// Shows the measurement and a chip for each bookmark of the device.
#[component]
pub fn PointsBar(props: &PointsBarProps) -> Html {
    let measure = props.points.measure_of(props.index);
    let bookmarks: Vec<&Bookmark> = props.points.bookmarks_of(props.index).collect();
    if measure.is_none() && bookmarks.is_empty() {
        return Html::default();
    }
    html! {
        <section class="points" aria-label="Bookmarks and measurement">
            if let Some(measure) = measure {
                <Measured client={props.client.clone()} device={props.device} {measure}
                    on_point={props.on_point.clone()} on_command={props.on_command.clone()} />
            }
            if !bookmarks.is_empty() {
                <ul class="bookmarks" aria-label="Bookmarks">{ for bookmarks.into_iter().map(|one| chip(one, props)) }</ul>
            }
        </section>
    }
}

fn chip(bookmark: &Bookmark, props: &PointsBarProps) -> Html {
    let moment = bookmark.moment;
    let name = bookmark_name(moment);
    let on_jump = props.on_command.reform(move |_: MouseEvent| TimelineCommand::JumpTo { moment });
    let on_remove = props.on_point.reform(move |_: MouseEvent| PointAction::Remove(moment));
    let on_note = props.on_point.reform(move |event: Event| {
        PointAction::Note(moment, event.target_unchecked_into::<HtmlInputElement>().value())
    });
    html! {
        <li class="bookmark" key={moment}>
            <button type="button" title="Show in the timeline" onclick={on_jump}>
                <Icon name={IconName::Bookmark} /><span class="numbers">{ &name }</span>
            </button>
            <input type="text" value={bookmark.note.clone()} placeholder="Note" maxlength="200" autocomplete="off"
                aria-label={format!("Note of the bookmark, {name}")} onchange={on_note} />
            <button type="button" aria-label={format!("Remove the bookmark, {name}")} onclick={on_remove}>
                <Icon name={IconName::Close} />
            </button>
        </li>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct MeasuredProps {
    client: WorkerClient,
    device: u32,
    measure: Measure,
    on_point: Callback<PointAction>,
    on_command: Callback<TimelineCommand>,
}

/// Shows what lies between the two ends of the measurement.
#[component]
fn Measured(props: &MeasuredProps) -> Html {
    let Measure { from, to, .. } = props.measure;
    let moments: Vec<u32> = std::iter::once(from).chain(to).collect();
    let facts = use_answer((props.client.clone(), props.device, moments), |(client, device, moments)| async move {
        client.ask(GetMoments { device, axis: Axis::Events, moments }).await
    });
    let text = facts.map(|facts| measure_text(&facts)).unwrap_or_default();
    let on_show =
        to.map(|to| props.on_command.reform(move |_: MouseEvent| TimelineCommand::Between { first: from, last: to }));
    html! {
        <div class="measured">
            <p class="numbers" role="status" aria-label="Measurement">{ text }</p>
            if let Some(onclick) = on_show {
                <button type="button" class="button quiet" {onclick}>{ "Show" }</button>
            }
            <button type="button" class="button quiet" onclick={props.on_point.reform(|_: MouseEvent| PointAction::EndMeasure)}>
                { "End" }
            </button>
        </div>
    }
}
