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
use super::words::Word;
use super::{Against, Choices, SegmentsChoice};
use crate::ask::WhatIfSetup;
use crate::state::Selecting;
use crate::state::fields::Fields;
use crate::state::view_state::DockTab;
use std::rc::Rc;

/// Largest scale of the map of segments.
const MOST_SCALE: u32 = 12;

/// Walk through the fields of the open view, in either direction, so that each is named once.
enum Walk<'a> {
    /// Appends the values that differ from the default.
    Write(&'a mut String),
    /// Replaces the defaults by the values that there are.
    Read(&'a Fields),
}

impl Walk<'_> {
    fn field_by<T: PartialEq>(
        &mut self,
        name: &str,
        value: &mut T,
        first: T,
        word: impl Fn(&T) -> String,
        of_word: impl Fn(&str) -> Option<T>,
    ) {
        match self {
            Self::Write(text) if *value != first => **text += &format!(";{name}={}", word(value)),
            Self::Write(_) => (),
            Self::Read(fields) => *value = fields.get(name).and_then(of_word).unwrap_or(first),
        }
    }

    fn field_from<T: Word + PartialEq>(&mut self, name: &str, value: &mut T, first: T) {
        self.field_by(name, value, first, T::word, T::of_word);
    }

    fn field<T: Word + PartialEq + Default>(&mut self, name: &str, value: &mut T) {
        self.field_from(name, value, T::default());
    }

    /// Passes a text that the user has typed; an address has no room for a long one.
    fn typed(&mut self, name: &str, text: &mut String) {
        let is_short = |text: &str| text.len() <= MOST_TEXT_BYTES;
        if matches!(self, Self::Read(_)) || is_short(text) {
            let of_word = |word: &str| Some(unescaped(word)).filter(|text| is_short(text));
            self.field_by(name, text, String::new(), |text| escaped(text), of_word);
        }
    }

    fn choices(&mut self, choices: &mut Choices, dock: Option<DockTab>) {
        let mut own = choices.own.to_string();
        self.typed("own", &mut own);
        choices.own = own.into();
        match dock {
            None | Some(DockTab::Logs) => (),
            Some(DockTab::Flame) => {
                self.selecting(&mut choices.selecting, true);
                self.stacks(choices);
            }
            Some(DockTab::Allocations) => {
                self.selecting(&mut choices.selecting, false);
                self.field("rows", &mut choices.rows.by);
                self.field("sort", &mut choices.rows.sort);
                self.field("columns", &mut choices.rows.columns);
            }
            Some(DockTab::Events) => {
                self.field("event", &mut choices.events.event);
                self.field_from("follow", &mut choices.events.follows, true);
            }
            Some(DockTab::Source) => self.selecting(&mut choices.selecting, false),
            Some(DockTab::Segments) => self.segments(&mut choices.segments),
            Some(DockTab::WhatIf) => self.what_if(choices),
            Some(DockTab::Compare) => self.compare(choices),
        }
    }

    fn selecting(&mut self, selecting: &mut Selecting, has_weight: bool) {
        self.field("when", &mut selecting.when);
        if has_weight {
            self.field("weight", &mut selecting.weight);
        }
        let filter = &mut selecting.filter;
        self.typed("find", &mut filter.text);
        self.field("expression", &mut filter.is_expression);
        self.field("min", &mut filter.min_bytes);
        self.field("life", &mut filter.min_lifetime);
        self.field("stream", &mut filter.stream);
        self.field("pool", &mut filter.pool);
        self.field("category", &mut filter.category);
        self.field("group", &mut selecting.group_mark);
    }

    fn stacks(&mut self, choices: &mut Choices) {
        let stacks = &mut choices.stacks;
        self.field("stacks", &mut stacks.controls);
        self.typed("highlight", &mut stacks.search);
        if stacks.controls.is_table {
            self.field("sort", &mut stacks.order);
            self.field("function", &mut stacks.site);
        } else {
            self.field("zoom", &mut stacks.zoom);
        }
    }

    fn segments(&mut self, segments: &mut SegmentsChoice) {
        let first = SegmentsChoice::default();
        self.field_from("at", &mut segments.instant, first.instant);
        self.field("blocks", &mut segments.color_by);
        let of_word = |word: &str| word.parse().ok().filter(|&scale| scale <= MOST_SCALE);
        self.field_by("scale", &mut segments.scale, first.scale, u32::to_string, of_word);
        let of_word = |word: &str| {
            let (block, moment) = word.split_once('@')?;
            Some(Some((moment.parse().ok()?, block.parse().ok()?)))
        };
        let word =
            |focus: &Option<(u32, u32)>| focus.map(|(moment, block)| format!("{block}@{moment}")).unwrap_or_default();
        self.field_by("block", &mut segments.focus, None, word, of_word);
    }

    fn compare(&mut self, choices: &mut Choices) {
        let are_ranks = |word: &str| Some(word == "ranks");
        self.field_by("compare", &mut choices.are_ranks, false, |_| "ranks".to_owned(), are_ranks);
        if choices.are_ranks {
            return;
        }
        let compare = &mut choices.compare;
        self.field("this", &mut compare.this);
        self.field("other", &mut compare.other);
        // Which other files are open is not part of a view.
        let mut device = match compare.against {
            Some(Against::Device(device)) => Some(device),
            Some(Against::OfFile(..)) | None => None,
        };
        self.field("against", &mut device);
        compare.against = device.map(Against::Device);
        let differences = &mut choices.differences;
        self.field("rows", &mut differences.by);
        self.field("sort", &mut differences.sort);
        self.typed("filter", &mut differences.filter);
    }

    fn what_if(&mut self, choices: &mut Choices) {
        let setup = choices.what_if.as_deref().cloned();
        let mut conf = setup.as_ref().map(|setup| setup.conf.clone());
        let mut setup = setup.unwrap_or_default();
        // Empty settings are written too, because they differ from no settings.
        let word = |conf: &Option<String>| escaped(conf.as_deref().unwrap_or_default());
        self.field_by("conf", &mut conf, None, word, |word| Some(Some(unescaped(word))));
        let Some(conf) = conf else { return };
        self.field("card", &mut setup.capacity_bytes);
        self.field("elsewhere", &mut setup.elsewhere_bytes);
        choices.what_if = Some(Rc::new(WhatIfSetup { conf, ..setup }));
    }
}

/// Appends the choices of the open view.
pub(in crate::state) fn write(choices: &Choices, dock: Option<DockTab>, text: &mut String) {
    Walk::Write(text).choices(&mut choices.clone(), dock);
}

/// Reads the choices of the open view from the fields of an address.
pub(in crate::state) fn read(fields: &Fields, dock: Option<DockTab>) -> Choices {
    let mut choices = Choices::default();
    Walk::Read(fields).choices(&mut choices, dock);
    choices
}

/// Returns true if the fields of the open view include the card.
pub(in crate::state) fn has_card(choices: &Choices, dock: Option<DockTab>) -> bool {
    dock == Some(DockTab::WhatIf) && choices.what_if.is_some()
}
