//! Entries of the gallery, with their texts and drawings.

use shared::base::ShortSort;
use std::collections::HashMap;
use std::rc::Rc;

use shared::api::GalleryRow;
use shared::job::{Device, RawJob};

/// Purpose of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A script with a mistake, shown next to its repair.
    Mistake,
    /// A config of a healthy training of real size.
    Healthy,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Config or script with the figures of its recording.
    pub row: Rc<GalleryRow>,
    /// Repaired script, if this one has a mistake.
    pub repair: Option<Rc<GalleryRow>>,
    pub kind: Kind,
    /// Preset of a config's model, or its family if the config gives sizes of its own; empty for a script.
    pub model: String,
    /// Virtual cards, as in `2x t4-16gb`; empty for a script or a real GPU.
    pub card: String,
    /// All searchable text in lower case.
    haystack: String,
}

impl Entry {
    fn of(row: Rc<GalleryRow>, repair: Option<Rc<GalleryRow>>) -> Self {
        let raw = row.config.as_deref().and_then(|config| RawJob::from_toml(config).ok()).unwrap_or_default();
        let model = raw.model.clone().unwrap_or_default();
        let model = model.preset.or(model.family).unwrap_or_default();
        let card = match raw.resolve().map(|job| job.device.clone()) {
            Ok(Device::Virtual(cards)) => cards.to_string(),
            _ => String::new(),
        };
        let kind = if repair.is_some() { Kind::Mistake } else { Kind::Healthy };
        let change = row.change.join("\n");
        let texts = [row.name.as_str(), &row.title, &row.topic, &row.text, &model, &card, &change];
        let haystack = texts.join("\n").to_lowercase();
        Self { row, repair, kind, model, card, haystack }
    }
}

/// Returns the cards of the gallery in the order of its topics.
pub(crate) fn entries(rows: Vec<GalleryRow>) -> Vec<Entry> {
    let rows: Vec<Rc<GalleryRow>> = rows.into_iter().map(Rc::new).collect();
    let by_name: HashMap<&str, &Rc<GalleryRow>> = rows.iter().map(|row| (row.name.as_str(), row)).collect();
    let repair = |row: &GalleryRow| by_name.get(row.repair.as_deref()?).map(|repair| Rc::clone(repair));
    let is_repair = |name: &str| rows.iter().any(|row| row.repair.as_deref() == Some(name));
    let own = rows.iter().filter(|row| !is_repair(&row.name));
    let mut entries: Vec<Entry> = own.map(|row| Entry::of(Rc::clone(row), repair(row))).collect();
    entries.short_sort_by_key(|entry| (entry.row.place, entry.kind == Kind::Healthy));
    entries
}

/// Cards below one heading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Topic<'a> {
    /// Heading; empty for cards without a topic.
    pub title: &'a str,
    pub entries: Vec<&'a Entry>,
}

/// Groups cards that are in the order of their topics.
pub(crate) fn topics<'a>(entries: &[&'a Entry]) -> Vec<Topic<'a>> {
    let chunks = entries.chunk_by(|a, b| a.row.topic == b.row.topic);
    chunks.map(|entries| Topic { title: &entries[0].row.topic, entries: entries.to_vec() }).collect()
}

/// Filter over the gallery; a card must meet all of its conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CatalogFilter {
    /// Words that a card must all contain.
    pub query: String,
    pub kind: Option<Kind>,
    /// Virtual cards, written as in [`Entry::card`].
    pub card: Option<String>,
    pub model: Option<String>,
}

impl CatalogFilter {
    /// Returns true if the filter matches a card of the gallery.
    pub(crate) fn takes(&self, entry: &Entry) -> bool {
        let query = self.query.to_lowercase();
        self.kind.is_none_or(|kind| kind == entry.kind)
            && self.card.as_ref().is_none_or(|card| *card == entry.card)
            && self.model.as_ref().is_none_or(|model| *model == entry.model)
            && query.split_whitespace().all(|word| entry.haystack.contains(word))
    }
}

/// Width of the picture, in SVG user units.
pub(crate) const WIDTH: u32 = 240;

/// Height of the picture, in SVG user units.
pub(crate) const HEIGHT: u32 = 64;

/// Two curves of a recording as SVG paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Area below the live bytes.
    pub live: String,
    /// Line of the reserved bytes.
    pub reserved: String,
}

/// Draws two curves, each in parts of equal width.
///
/// `top_bytes` is the value at the picture's top edge; pictures with the same one can be compared.
pub(crate) fn picture(live: &[u64], reserved: &[u64], top_bytes: u64) -> Picture {
    let line = steps(reserved, top_bytes);
    let area = steps(live, top_bytes);
    let live = if area.is_empty() { area } else { format!("M0 {HEIGHT}L{}V{HEIGHT}Z", &area[1..]) };
    Picture { live, reserved: line }
}

/// Returns a value at the top edge that leaves a margin of 1/16 above the highest curve; at least 1.
pub(crate) fn top_bytes<'a>(curves: impl IntoIterator<Item = &'a [u64]>) -> u64 {
    let highest = curves.into_iter().flatten().copied().max().unwrap_or(0);
    (highest + highest / 16).max(1)
}

/// Draws a stepped line from the left edge to the right one: `M0 y H x V y …`.
fn steps(curve: &[u64], top_bytes: u64) -> String {
    let x = |index: usize| tenths(index as f64 * f64::from(WIDTH) / curve.len() as f64);
    let y = |bytes: u64| tenths(f64::from(HEIGHT) * (1.0 - bytes as f64 / top_bytes as f64));
    let mut path = String::new();
    for (index, bytes) in curve.iter().enumerate() {
        match index {
            0 => path += &format!("M0 {}", y(*bytes)),
            _ => path += &format!("V{}", y(*bytes)),
        }
        path += &format!("H{}", x(index + 1));
    }
    path
}

/// Formats a number with at most one decimal.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Words(String),
    /// Text between backticks.
    Code(String),
}

/// Splits a text into pieces; its lines are joined by spaces.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let joined = text.replace('\n', " ");
    let parts = joined.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts
        .map(|(index, part)| if index % 2 == 0 { Piece::Words(part.into()) } else { Piece::Code(part.into()) })
        .collect()
}

/// Splits a text after its first sentence.
pub(crate) fn first_sentence(text: &str) -> (&str, &str) {
    // A line of a config's comment is a sentence.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    (first.trim(), rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, repair: Option<&str>, config: Option<&str>) -> GalleryRow {
        GalleryRow {
            name: name.to_owned(),
            title: format!("The {name}"),
            topic: if name == "big" { "Healthy" } else { "Growth" }.to_owned(),
            place: u64::from(name == "big"),
            text: "What to look for.".to_owned(),
            config: config.map(str::to_owned),
            repair: repair.map(str::to_owned),
            change: repair.map(|_| "-losses.append(loss)".to_owned()).into_iter().collect(),
            peak_live_bytes: 0,
            peak_reserved_bytes: 0,
            events: 0,
            live_curve: Vec::new(),
            reserved_curve: Vec::new(),
        }
    }

    fn gallery() -> Vec<Entry> {
        entries(vec![
            row("big", None, Some("model = \"gpt2-xl\"\ncard = \"a100-40gb\"")),
            row("leak_bad", Some("leak_good"), None),
            row("leak_good", None, None),
        ])
    }

    #[track_caller]
    fn check(filter: CatalogFilter, expected: &[&str]) {
        let found: Vec<_> =
            gallery().into_iter().filter(|entry| filter.takes(entry)).map(|entry| entry.row.name.clone()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }

    #[test]
    fn a_mistake_stands_beside_its_repair() {
        let gallery = gallery();
        assert_eq!(gallery.len(), 2);
        assert_eq!(gallery[0].repair.as_ref().map(|row| row.name.as_str()), Some("leak_good"));
        assert_eq!((gallery[1].model.as_str(), gallery[1].card.as_str()), ("gpt2-xl", "a100-40gb"));
    }

    #[test]
    fn cards_stand_below_their_topics() {
        let gallery = gallery();
        let shown: Vec<&Entry> = gallery.iter().collect();
        let titles: Vec<_> = topics(&shown).iter().map(|topic| (topic.title, topic.entries.len())).collect();
        assert_eq!(titles, [("Growth", 1), ("Healthy", 1)]);
        assert_eq!(topics(&[]), []);
    }

    #[test]
    fn filters_leave_what_is_looked_for() {
        check(CatalogFilter::default(), &["leak_bad", "big"]);
        check(CatalogFilter { query: "LOSSES.append growth".to_owned(), ..CatalogFilter::default() }, &["leak_bad"]);
        check(CatalogFilter { query: "nothing".to_owned(), ..CatalogFilter::default() }, &[]);
        check(CatalogFilter { kind: Some(Kind::Healthy), ..CatalogFilter::default() }, &["big"]);
        check(CatalogFilter { card: Some("a100-40gb".to_owned()), ..CatalogFilter::default() }, &["big"]);
        check(CatalogFilter { kind: Some(Kind::Mistake), ..CatalogFilter::default() }, &["leak_bad"]);
        check(CatalogFilter { model: Some("gpt2-xl".to_owned()), ..CatalogFilter::default() }, &["big"]);
    }

    #[test]
    fn curves_become_steps() {
        let picture = picture(&[0, 5], &[10, 10], 10);
        assert_eq!(picture.reserved, "M0 0H120V0H240");
        assert_eq!(picture.live, "M0 64L0 64H120V32H240V64Z");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(picture(&[], &[], top_bytes([])), Picture { live: String::new(), reserved: String::new() });
        assert_eq!(top_bytes([&[16_u64, 3][..], &[32]]), 34);
    }

    #[test]
    fn code_stands_between_backticks() {
        let words = |text: &str| Piece::Words(text.to_owned());
        assert_eq!(
            pieces("Append `x.item()`\nhere."),
            [words("Append "), Piece::Code("x.item()".to_owned()), words(" here.")]
        );
        assert_eq!(pieces("Nothing."), [words("Nothing.")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn the_first_sentence_is_the_first_line() {
        assert_eq!(first_sentence("One with `a.b`.\nTwo.\nThree."), ("One with `a.b`.", "Two.\nThree."));
        assert_eq!(first_sentence("One."), ("One.", ""));
    }
}
