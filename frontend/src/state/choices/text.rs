//! Converts the open view's choices to fields of an address and back; defaults are omitted.
//!
//! ```text
//! when=kept;find=relu;min=1048576;rows=stack;sort=count-
//! stacks=inverted,runtime;zoom=0..4096@2      at=m402;blocks=state;scale=3      this=s4;other=s1;filter=adam
//! conf=expandable_segments:True;card=85899345920
//! ```
//!
//! Whatever view is open, `own` says what counts as the user's own code.
//! Fields and values that this version does not know are ignored.

use super::escape::{MOST_TEXT_BYTES, escaped, unescaped};
use super::{Against, BlockColors, Choices, CompareChoice, Controls, EventsChoice, Rootward, Zoom, names};
use crate::ask::{DiffBy, FilterData, GroupBy, GroupMark, NameMark, Weight, WhatIfSetup, side_of_value, side_value};
use crate::state::Selecting;
use crate::state::fields::Fields;
use crate::state::view_state::DockTab;
use shared::analysis::Category;
use shared::trace::PoolId;
use std::rc::Rc;

/// Appends fields to a text.
struct Writer<'a> {
    text: &'a mut String,
}

impl Writer<'_> {
    fn put(&mut self, name: &str, value: &str) {
        *self.text += &format!(";{name}={value}");
    }

    /// Appends a value that differs from the default.
    fn other<T: PartialEq>(&mut self, name: &str, value: T, first: T, word: impl FnOnce(T) -> String) {
        if value != first {
            self.put(name, &word(value));
        }
    }

    fn typed(&mut self, name: &str, text: &str) {
        if !text.is_empty() && text.len() <= MOST_TEXT_BYTES {
            self.put(name, &escaped(text));
        }
    }
}

/// Appends the choices of the open view.
pub(in crate::state) fn write(choices: &Choices, dock: Option<DockTab>, text: &mut String) {
    let mut out = Writer { text };
    out.typed("own", &choices.own);
    match dock {
        None | Some(DockTab::Logs) => (),
        Some(DockTab::Flame) => {
            selecting(&choices.selecting, true, &mut out);
            stacks(choices, &mut out);
        }
        Some(DockTab::Allocations) => {
            selecting(&choices.selecting, false, &mut out);
            let (rows, first) = (choices.rows, Choices::default().rows);
            out.other("rows", rows.by, first.by, |by| by.map_or("", GroupBy::name).to_owned());
            out.other("sort", rows.sort, first.sort, names::sort_name);
            out.other("columns", rows.columns, first.columns, names::columns_name);
        }
        Some(DockTab::Events) => events(choices, &mut out),
        Some(DockTab::Source) => selecting(&choices.selecting, false, &mut out),
        Some(DockTab::Segments) => segments(choices, &mut out),
        Some(DockTab::WhatIf) => what_if(choices, &mut out),
        Some(DockTab::Compare) => compare(choices, &mut out),
    }
}

fn selecting(selecting: &Selecting, has_weight: bool, out: &mut Writer<'_>) {
    let first = Selecting::default();
    let FilterData { text, is_expression, min_bytes, min_lifetime, stream, pool, category, .. } = &selecting.filter;
    out.other("when", selecting.when, first.when, |when| names::when_name(when).to_owned());
    if has_weight {
        out.other("weight", selecting.weight, first.weight, |weight| weight.name().to_owned());
    }
    out.typed("find", text);
    out.other("expression", *is_expression, false, |_| "1".to_owned());
    out.other("min", *min_bytes, 0, |bytes| bytes.to_string());
    out.other("life", *min_lifetime, 0, |events| events.to_string());
    if let Some(stream) = stream {
        out.put("stream", &stream.to_string());
    }
    if let Some(PoolId(capture, handle)) = pool {
        out.put("pool", &format!("{capture}:{handle}"));
    }
    if let Some(category) = category {
        out.put("category", category.name());
    }
    if let Some(GroupMark { by, mark }) = selecting.group_mark {
        out.put("group", &format!("{}:{mark}", by.name()));
    }
}

/// Word in the address, and the control that it switches on.
type Switch = (&'static str, fn(&mut Controls));

/// Words for the controls of stacks.
const SWITCHES: [Switch; 6] = [
    ("table", |controls| controls.is_table = true),
    ("inverted", |controls| controls.is_inverted = true),
    ("flames", |controls| controls.rootward = Rootward::Down),
    ("appearance", |controls| controls.by_appearance = true),
    ("functions", |controls| controls.by_line = false),
    ("runtime", |controls| controls.with_runtime = true),
];

fn stacks(choices: &Choices, out: &mut Writer<'_>) {
    let (stacks, first) = (&choices.stacks, Choices::default().stacks);
    // A control is on if switching it on changes nothing.
    let is_on = |set: &fn(&mut Controls)| {
        let mut controls = stacks.controls;
        set(&mut controls);
        controls == stacks.controls
    };
    let on: Vec<&str> = SWITCHES.iter().filter(|(_, set)| is_on(set)).map(|(word, _)| *word).collect();
    out.other("stacks", on.join(","), String::new(), |on| on);
    out.typed("highlight", &stacks.search);
    if stacks.controls.is_table {
        out.other("sort", stacks.order, first.order, names::site_order_name);
        if let Some(site) = stacks.site {
            out.put("function", &site.to_string());
        }
    } else if let Some(Zoom { start, end, row }) = stacks.zoom {
        out.put("zoom", &format!("{start}..{end}@{row}"));
    }
}

fn events(choices: &Choices, out: &mut Writer<'_>) {
    if let Some(event) = choices.events.event {
        out.put("event", &event.to_string());
    }
    out.other("follow", choices.events.follows, true, |_| "0".to_owned());
}

fn segments(choices: &Choices, out: &mut Writer<'_>) {
    let (segments, first) = (choices.segments, Choices::default().segments);
    out.other("at", segments.instant, first.instant, names::instant_name);
    out.other("blocks", segments.color_by, first.color_by, |_| "state".to_owned());
    out.other("scale", segments.scale, first.scale, |scale| scale.to_string());
    if let Some((moment, block)) = segments.focus {
        out.put("block", &format!("{block}@{moment}"));
    }
}

fn compare(choices: &Choices, out: &mut Writer<'_>) {
    if choices.are_ranks {
        return out.put("compare", "ranks");
    }
    let CompareChoice { this, other, against } = choices.compare;
    for (name, side) in [("this", this), ("other", other)] {
        if let Some(side) = side {
            out.put(name, &side_value(side));
        }
    }
    // Which other files are open is not part of a view.
    if let Some(Against::Device(position)) = against {
        out.put("against", &position.to_string());
    }
    let (differences, first) = (&choices.differences, Choices::default().differences);
    out.other("rows", differences.by, first.by, |by| by.name().to_owned());
    out.other("sort", differences.sort, first.sort, names::diff_sort_name);
    out.typed("filter", &differences.filter);
}

fn what_if(choices: &Choices, out: &mut Writer<'_>) {
    let Some(WhatIfSetup { conf, capacity_bytes, elsewhere_bytes }) = choices.what_if.as_deref() else { return };
    // Empty settings are written too, because they differ from no settings.
    out.put("conf", &escaped(conf));
    if let Some(capacity_bytes) = capacity_bytes {
        out.put("card", &capacity_bytes.to_string());
    }
    out.other("elsewhere", *elsewhere_bytes, 0, |bytes| bytes.to_string());
}

/// Returns true if the fields of the open view include the card.
pub(in crate::state) fn has_card(choices: &Choices, dock: Option<DockTab>) -> bool {
    dock == Some(DockTab::WhatIf) && choices.what_if.is_some()
}

/// Reads the choices of the open view from the fields of an address.
pub(in crate::state) fn read(fields: &Fields, dock: Option<DockTab>) -> Choices {
    let mut choices = Choices { own: typed(fields, "own").into(), ..Choices::default() };
    let word = |name: &str| fields.get(name);
    match dock {
        None | Some(DockTab::Logs) => (),
        Some(DockTab::Flame) => {
            choices.selecting = read_selecting(fields);
            choices.selecting.weight = word("weight").and_then(Weight::of_name).unwrap_or_default();
            read_stacks(fields, &mut choices);
        }
        Some(DockTab::Allocations) => {
            choices.selecting = read_selecting(fields);
            choices.rows.by = word("rows").and_then(GroupBy::of_name);
            choices.rows.sort = word("sort").and_then(names::sort_of).unwrap_or_default();
            choices.rows.columns = word("columns").map(names::columns_of).unwrap_or_default();
        }
        Some(DockTab::Events) => {
            choices.events = EventsChoice { event: number(fields, "event"), follows: word("follow") != Some("0") };
        }
        Some(DockTab::Source) => choices.selecting = read_selecting(fields),
        Some(DockTab::Segments) => {
            let segments = &mut choices.segments;
            segments.instant = word("at").and_then(names::instant_of).unwrap_or(segments.instant);
            segments.color_by = if word("blocks") == Some("state") { BlockColors::State } else { BlockColors::Stack };
            segments.scale = number(fields, "scale").filter(|&scale: &u32| scale <= 12).unwrap_or_default();
            segments.focus = word("block").and_then(|text| {
                let (block, moment) = text.split_once('@')?;
                Some((moment.parse().ok()?, block.parse().ok()?))
            });
        }
        Some(DockTab::WhatIf) => {
            choices.what_if = word("conf").map(|conf| {
                let (conf, capacity_bytes) = (unescaped(conf), number(fields, "card"));
                let elsewhere_bytes = number(fields, "elsewhere").unwrap_or_default();
                Rc::new(WhatIfSetup { conf, capacity_bytes, elsewhere_bytes })
            });
        }
        Some(DockTab::Compare) if word("compare") == Some("ranks") => choices.are_ranks = true,
        Some(DockTab::Compare) => {
            choices.compare = CompareChoice {
                this: word("this").and_then(side_of_value),
                other: word("other").and_then(side_of_value),
                against: number(fields, "against").map(Against::Device),
            };
            let differences = &mut choices.differences;
            differences.by = word("rows").and_then(DiffBy::of_name).unwrap_or_default();
            differences.sort = word("sort").and_then(names::diff_sort_of).unwrap_or_default();
            differences.filter = typed(fields, "filter");
        }
    }
    choices
}

fn number<T: std::str::FromStr>(fields: &Fields, name: &str) -> Option<T> {
    fields.get(name).and_then(|text| text.parse().ok())
}

/// Reads a text of at most the length that [`Writer::typed`] writes.
fn typed(fields: &Fields, name: &str) -> String {
    fields.get(name).map(unescaped).filter(|text| text.len() <= MOST_TEXT_BYTES).unwrap_or_default()
}

fn read_selecting(fields: &Fields) -> Selecting {
    let word = |name: &str| fields.get(name);
    let pool = |text: &str| {
        let (capture, handle) = text.split_once(':')?;
        Some(PoolId(capture.parse().ok()?, handle.parse().ok()?))
    };
    let group = |text: &str| {
        let (by, mark) = text.split_once(':')?;
        Some(GroupMark { by: GroupBy::of_name(by)?, mark: NameMark::of_text(mark)? })
    };
    Selecting {
        when: word("when").and_then(names::when_of).unwrap_or_default(),
        filter: FilterData {
            text: typed(fields, "find"),
            is_expression: word("expression") == Some("1"),
            min_bytes: number(fields, "min").unwrap_or_default(),
            min_lifetime: number(fields, "life").unwrap_or_default(),
            stream: number(fields, "stream"),
            pool: word("pool").and_then(pool),
            category: word("category").and_then(Category::of_name),
            group: None,
        },
        group_mark: word("group").and_then(group),
        ..Selecting::default()
    }
}

fn read_stacks(fields: &Fields, choices: &mut Choices) {
    let stacks = &mut choices.stacks;
    for on in fields.get("stacks").unwrap_or_default().split(',') {
        SWITCHES.iter().filter(|(word, _)| *word == on).for_each(|(_, set)| set(&mut stacks.controls));
    }
    stacks.search = typed(fields, "highlight");
    if stacks.controls.is_table {
        stacks.order = fields.get("sort").and_then(names::site_order_of).unwrap_or_default();
        stacks.site = fields.get("function").and_then(NameMark::of_text);
    } else {
        stacks.zoom = fields.get("zoom").and_then(read_zoom);
    }
}

fn read_zoom(text: &str) -> Option<Zoom> {
    let (span, row) = text.split_once('@')?;
    let (start, end) = span.split_once("..")?;
    let zoom = Zoom { start: start.parse().ok()?, end: end.parse().ok()?, row: row.parse().ok()? };
    let is_sound = [zoom.start, zoom.end, zoom.row].into_iter().all(f64::is_finite) && zoom.start < zoom.end;
    is_sound.then_some(zoom)
}
