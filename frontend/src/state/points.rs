//! Moments that the user marks: bookmarks with notes, and the two ends of a measurement.
//!
//! ```text
//! bookmarks=0@402!first%20leak+1@900      measure=0@402..900
//! ```
//!
//! Each names its device by the CUDA index, so that bookmarks stay when another device is shown.

use super::fields::{escaped, unescaped};

/// Maximum length of a note in bytes, and maximum number of bookmarks, because mail and chat programs truncate long
/// addresses.
const MOST_NOTE_BYTES: usize = 200;
const MOST_BOOKMARKS: usize = 40;

/// Moments that the user marked in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Bookmarks by device and moment.
    pub bookmarks: Vec<Bookmark>,
    pub measure: Option<Measure>,
}

/// Moment with a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bookmark {
    /// CUDA index of the device.
    pub device: i64,
    pub moment: u32,
    /// Text of the user, may be empty.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// CUDA index of the device.
    pub device: i64,
    pub from: u32,
    /// Second moment; `None` until it is set.
    pub to: Option<u32>,
}

/// Change of the points of the shown device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointAction {
    /// Adds a bookmark without a note, unless the moment has one.
    Bookmark(u32),
    Note(u32, String),
    Remove(u32),
    /// Sets the first end of a measurement, or the second if only the first is set.
    Measure(u32),
    EndMeasure,
}

impl Points {
    pub fn is_empty(&self) -> bool {
        self.bookmarks.is_empty() && self.measure.is_none()
    }

    pub fn bookmarks_of(&self, device: i64) -> impl Iterator<Item = &Bookmark> {
        self.bookmarks.iter().filter(move |bookmark| bookmark.device == device)
    }

    pub fn measure_of(&self, device: i64) -> Option<Measure> {
        self.measure.filter(|measure| measure.device == device)
    }

    pub fn take(&mut self, device: i64, action: PointAction) {
        match action {
            PointAction::Bookmark(moment) => self.add(Bookmark { device, moment, note: String::new() }),
            PointAction::Note(moment, note) => {
                let end = note.floor_char_boundary(MOST_NOTE_BYTES);
                if let Some(bookmark) =
                    self.bookmarks.iter_mut().find(|one| (one.device, one.moment) == (device, moment))
                {
                    note[..end].trim().clone_into(&mut bookmark.note);
                }
            }
            PointAction::Remove(moment) => {
                self.bookmarks.retain(|bookmark| (bookmark.device, bookmark.moment) != (device, moment));
            }
            PointAction::Measure(moment) => {
                self.measure = Some(match self.measure_of(device) {
                    Some(Measure { from, to: None, .. }) => {
                        Measure { device, from: from.min(moment), to: Some(from.max(moment)) }
                    }
                    _ => Measure { device, from: moment, to: None },
                });
            }
            PointAction::EndMeasure => self.measure = None,
        }
    }

    fn add(&mut self, bookmark: Bookmark) {
        let key = |bookmark: &Bookmark| (bookmark.device, bookmark.moment);
        if let Err(position) = self.bookmarks.binary_search_by_key(&key(&bookmark), key)
            && self.bookmarks.len() < MOST_BOOKMARKS
        {
            self.bookmarks.insert(position, bookmark);
        }
    }

    /// Appends the fields of an address.
    pub(super) fn write(&self, text: &mut String) {
        if !self.bookmarks.is_empty() {
            let one = |Bookmark { device, moment, note }: &Bookmark| match note.as_str() {
                "" => format!("{device}@{moment}"),
                note => format!("{device}@{moment}!{}", escaped(note)),
            };
            *text += &format!(";bookmarks={}", self.bookmarks.iter().map(one).collect::<Vec<_>>().join("+"));
        }
        if let Some(Measure { device, from, to }) = self.measure {
            let to = to.map(|to| to.to_string()).unwrap_or_default();
            *text += &format!(";measure={device}@{from}..{to}");
        }
    }

    /// Reads the fields of an address; what can't be read is left out.
    pub(super) fn read(bookmarks: Option<&str>, measure: Option<&str>) -> Self {
        let mut points = Self { bookmarks: Vec::new(), measure: measure.and_then(measure_of_text) };
        for text in bookmarks.unwrap_or_default().split('+') {
            if let Some(bookmark) = bookmark_of_text(text) {
                points.add(bookmark);
            }
        }
        points
    }
}

fn bookmark_of_text(text: &str) -> Option<Bookmark> {
    let (place, note) = text.split_once('!').unwrap_or((text, ""));
    let (device, moment) = place.split_once('@')?;
    let note = Some(unescaped(note)).filter(|note| note.len() <= MOST_NOTE_BYTES).unwrap_or_default();
    Some(Bookmark { device: device.parse().ok()?, moment: moment.parse().ok()?, note: note.trim().to_owned() })
}

fn measure_of_text(text: &str) -> Option<Measure> {
    let (device, moments) = text.split_once('@')?;
    let (from, to) = moments.split_once("..")?;
    let (device, from) = (device.parse().ok()?, from.parse().ok()?);
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    to.is_none_or(|to| from <= to).then_some(Measure { device, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(actions: impl IntoIterator<Item = PointAction>) -> Points {
        let mut points = Points::default();
        actions.into_iter().for_each(|action| points.take(0, action));
        points
    }

    fn note(text: &str) -> Points {
        points([PointAction::Bookmark(402), PointAction::Note(402, text.to_owned())])
    }

    #[track_caller]
    fn check(points: &Points, fields: &str) {
        let mut text = String::new();
        points.write(&mut text);
        assert_eq!(text, fields);
        let field = |name: &str| text.split(';').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        assert_eq!(Points::read(field("bookmarks"), field("measure")), *points);
    }

    #[test]
    fn points_are_in_the_address() {
        check(&Points::default(), "");
        check(&note(""), ";bookmarks=0@402");
        check(&note("a;b=c + d!"), ";bookmarks=0@402!a%3Bb%3Dc%20%2B%20d%21");
        check(&points([PointAction::Bookmark(9), PointAction::Bookmark(4)]), ";bookmarks=0@4+0@9");
        check(&points([PointAction::Measure(9)]), ";measure=0@9..");
        check(&points([PointAction::Measure(9), PointAction::Measure(4)]), ";measure=0@4..9");
    }

    #[test]
    fn a_measurement_starts_again_after_its_second_end() {
        let moments = [9, 4, 7].map(PointAction::Measure);
        assert_eq!(points(moments).measure, Some(Measure { device: 0, from: 7, to: None }));
        assert_eq!(points([PointAction::Measure(9), PointAction::EndMeasure]), Points::default());
    }

    #[test]
    fn bookmarks_belong_to_their_device() {
        let mut both = note("here");
        both.take(1, PointAction::Bookmark(402));
        both.take(1, PointAction::Bookmark(402));
        assert_eq!((both.bookmarks.len(), both.bookmarks_of(1).count()), (2, 1));
        both.take(0, PointAction::Remove(402));
        assert_eq!(both.bookmarks, [Bookmark { device: 1, moment: 402, note: String::new() }]);
    }

    #[test]
    fn what_is_no_point_is_left_out() {
        let read = Points::read(Some("0@x+@4+0@5+0@5!twice+"), Some("0@9..4"));
        assert_eq!(read, points([PointAction::Bookmark(5)]));
        assert_eq!(note(&"ä".repeat(200)).bookmarks[0].note.len(), MOST_NOTE_BYTES);
    }
}
