//! Texts and numbers of the flame graph.

use super::rows::{FlameBox, FlameKind, FlameLabel, FlameRows};
use crate::ask::site_table::{mark, site_name, site_place, weight_text};
use crate::ask::{FlameBoxData, FlameBoxKind, FlameBoxes, NameMark, SiteText, Tally, Weight};
use crate::draw::Span;
use shared::base::format;
use shared::draw::flame;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxText {
    pub name: String,
    pub place: String,
    /// Weight, and its share of the whole graph.
    pub total: String,
    /// Weight outside of all child boxes, with its share; empty if that is zero or all of the weight.
    pub own: String,
    pub count: String,
}

impl BoxText {
    pub fn numbers(&self) -> String {
        joined(&[&self.total, &self.own, &self.count])
    }

    pub fn spoken(&self) -> String {
        joined(&[&self.name, &self.place, &self.numbers()])
    }
}

fn joined(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

pub fn rows(data: &FlameBoxes, weight: Weight) -> FlameRows {
    let mut labels: Vec<FlameLabel> = data.sites.iter().map(label).collect();
    let boxes = data.boxes.iter().map(|found| {
        let label = match found.kind {
            FlameBoxKind::Site(site) => site,
            FlameBoxKind::All | FlameBoxKind::Merged(_) => {
                labels.push(label_of_no_site(found, weight));
                labels.len() as u32 - 1
            }
        };
        let span = Span::new(found.start as f64, (found.start + found.total.weight) as f64);
        FlameBox { parent: found.parent, depth: found.depth, span, label }
    });
    let boxes = boxes.collect();
    FlameRows::new(boxes, labels)
}

pub fn box_text(data: &FlameBoxes, index: u32, weight: Weight) -> Option<BoxText> {
    let (found, all) = (data.boxes.get(index as usize)?, data.boxes.first()?.total.weight);
    let share = |part: u64| format!("{} ({})", weight_text(part, weight), format::percent(part, all));
    let (name, place) = match found.kind {
        FlameBoxKind::All => ("All".to_owned(), String::new()),
        FlameBoxKind::Merged(count) => (merged(count), String::new()),
        FlameBoxKind::Site(site) => {
            let site = data.sites.get(site as usize)?;
            (site_name(site), site_place(site))
        }
    };
    let own = found.own.weight;
    Some(BoxText {
        name,
        place,
        total: share(found.total.weight),
        own: if own == 0 || own == found.total.weight { String::new() } else { format!("self {}", share(own)) },
        count: format::counted(found.total.count, "allocation"),
    })
}

/// Returns the position of the site with a mark, which is also the label of its boxes.
pub fn label_of(data: &FlameBoxes, of: NameMark) -> Option<u32> {
    data.sites.iter().position(|site| mark(site) == of).map(|position| position as u32)
}

/// Returns the mark of a box's site; `None` if the box is not a site.
pub fn site_of(data: &FlameBoxes, index: u32) -> Option<NameMark> {
    match data.boxes.get(index as usize)?.kind {
        FlameBoxKind::Site(site) => data.sites.get(site as usize).map(mark),
        FlameBoxKind::All | FlameBoxKind::Merged(_) => None,
    }
}

pub fn found_text(found: Tally, all: Tally, weight: Weight) -> String {
    match found.count {
        0 => "Not found".to_owned(),
        _ => format!("{} found, {}", weight_text(found.weight, weight), format::percent(found.weight, all.weight)),
    }
}

fn label(site: &SiteText) -> FlameLabel {
    let SiteText { name, filename, line, is_match, .. } = site;
    let (kind, (name, place)) = match site.key {
        None => (FlameKind::NoStack, (site_name(site), String::new())),
        Some(_) => (FlameKind::Site(flame::site_hue(name, filename)), flame::site_label(name, filename, *line)),
    };
    FlameLabel { name, place, kind, is_match: *is_match }
}

fn label_of_no_site(found: &FlameBoxData, weight: Weight) -> FlameLabel {
    let (name, place, kind) = match found.kind {
        FlameBoxKind::Merged(count) => (merged(count), String::new(), FlameKind::Merged),
        _ => ("All".to_owned(), weight_text(found.total.weight, weight), FlameKind::All),
    };
    FlameLabel { name, place, kind, is_match: false }
}

fn merged(count: u32) -> String {
    format::counted(u64::from(count), "small part")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(name: &str, filename: &str, line: u64) -> SiteText {
        SiteText { key: Some(1), name: name.into(), filename: filename.into(), line, is_match: false }
    }

    fn data() -> FlameBoxes {
        let tally = |weight, count| Tally { weight, count };
        let found = |parent, depth, kind, start, total, own| FlameBoxData {
            node: start as u32,
            parent,
            depth,
            kind,
            start,
            total,
            own,
        };
        FlameBoxes {
            boxes: vec![
                found(0, 0, FlameBoxKind::All, 0, tally(4096, 5), tally(0, 0)),
                found(0, 1, FlameBoxKind::Site(0), 0, tally(3072, 2), tally(1024, 1)),
                found(0, 1, FlameBoxKind::Site(1), 3072, tally(512, 1), tally(512, 1)),
                found(0, 1, FlameBoxKind::Merged(2), 3584, tally(512, 2), tally(0, 0)),
            ],
            sites: vec![site("forward", "/srv/app/model.py", 12), SiteText::default()],
            depth: 2,
            found: None,
        }
    }

    #[test]
    fn boxes_are_named_by_their_sites() {
        let rows = rows(&data(), Weight::Bytes);
        let label = |index| rows.label(index).expect("it is there");
        assert_eq!((label(0).name.as_str(), label(0).place.as_str()), ("All", "4.00 KiB"));
        assert_eq!((label(1).name.as_str(), label(1).place.as_str()), ("forward", "model.py:12"));
        assert_eq!((label(2).name.as_str(), label(2).kind), ("No stack recorded", FlameKind::NoStack));
        assert_eq!((label(3).name.as_str(), label(3).kind), ("2 small parts", FlameKind::Merged));
    }

    #[test]
    fn a_box_says_what_it_holds_itself() {
        let text = |index| box_text(&data(), index, Weight::Bytes).expect("it is there");
        let forward = text(1);
        assert_eq!((forward.name.as_str(), forward.place.as_str()), ("forward", "app/model.py:12"));
        assert_eq!((forward.total.as_str(), forward.own.as_str()), ("3.00 KiB (75 %)", "self 1.00 KiB (25 %)"));
        assert_eq!(text(2).own, "", "all of it is its own");
        assert_eq!(text(3).spoken(), "2 small parts, 512 B (12 %), 2 allocations");
        assert_eq!(box_text(&data(), 9, Weight::Bytes), None);
        let FlameBoxKind::Site(site) = data().boxes[1].kind else { panic!("a site") };
        assert_eq!((site_of(&data(), 1), site_of(&data(), 3)), (Some(mark(&data().sites[site as usize])), None));
    }

    #[test]
    fn weights_have_their_unit() {
        let tally = |weight, count| Tally { weight, count };
        assert_eq!(weight_text(2048, Weight::ByteEvents), "2.00 KiB × events");
        assert_eq!(weight_text(2_048_000, Weight::ByteTime), "2.00 KiB × s");
        assert_eq!(weight_text(1, Weight::Count), "1 allocation");
        assert_eq!(found_text(tally(1024, 1), tally(4096, 3), Weight::Bytes), "1.00 KiB found, 25 %");
        assert_eq!(found_text(tally(0, 0), tally(4096, 3), Weight::Bytes), "Not found");
    }
}
