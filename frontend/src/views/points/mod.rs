//! Strip above the timeline with the bookmarks and the measurement, if there are any.

pub mod model;

use self::model::{bookmark_name, measure_text};
use crate::ask::{Axis, GetMoments};
use crate::components::{IconName, icon, text_of};
use crate::hooks::{FileHandle, use_asked, use_file, use_shown};
use crate::state::{Bookmark, FileAction, Measure, PointAction, TimelineCommand};
use yew::prelude::*;

#[component]
pub fn PointsBar() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (points, index) = (&shown.ready.points, shown.ready.device_index());
    let measure = points.measure_of(index);
    let bookmarks: Vec<&Bookmark> = points.bookmarks_of(index).collect();
    let moments = measure.map(|Measure { from, to, .. }| std::iter::once(from).chain(to).collect());
    let device = shown.device.device;
    let facts = use_asked(moments.map(|moments| GetMoments { device, axis: Axis::Events, moments }));
    if measure.is_none() && bookmarks.is_empty() {
        return Html::default();
    }
    let text = facts.map(|facts| measure_text(&facts)).unwrap_or_default();
    html! {
        <section class="points" aria-label="Bookmarks and measurement">
            if let Some(measure) = measure { { measured(measure, text, &file) } }
            if !bookmarks.is_empty() {
                <ul class="bookmarks" aria-label="Bookmarks">{ for bookmarks.into_iter().map(|one| chip(one, &file)) }</ul>
            }
        </section>
    }
}

fn chip(bookmark: &Bookmark, file: &FileHandle) -> Html {
    let moment = bookmark.moment;
    let name = bookmark_name(moment);
    let on_jump = file.commanded(TimelineCommand::JumpTo { moment });
    let on_remove = file.clicked(FileAction::Point(PointAction::Remove(moment)));
    let on_note = file.acting(move |event: Event| FileAction::Point(PointAction::Note(moment, text_of(&event))));
    html! {
        <li class="bookmark" key={moment}>
            <button type="button" title="Show in the timeline" onclick={on_jump}>
                { icon(IconName::Bookmark) }<span class="numbers">{ &name }</span>
            </button>
            <input type="text" value={bookmark.note.clone()} placeholder="Note" maxlength="200" autocomplete="off"
                aria-label={format!("Note of the bookmark, {name}")} onchange={on_note} />
            <button type="button" aria-label={format!("Remove the bookmark, {name}")} onclick={on_remove}>
                { icon(IconName::Close) }
            </button>
        </li>
    }
}

fn measured(Measure { from, to, .. }: Measure, text: String, file: &FileHandle) -> Html {
    let on_show = to.map(|to| file.commanded(TimelineCommand::Between { first: from, last: to }));
    html! {
        <div class="measured">
            <p class="numbers" role="status" aria-label="Measurement">{ text }</p>
            if let Some(onclick) = on_show {
                <button type="button" class="button quiet" {onclick}>{ "Show" }</button>
            }
            <button type="button" class="button quiet"
                onclick={file.clicked(FileAction::Point(PointAction::EndMeasure))}>{ "End" }</button>
        </div>
    }
}
