//! A command with placeholders.

use std::ffi::OsString;
use std::ops::{Range, RangeInclusive};

use crate::Failure;

/// Most bytes of a word that names its placeholder; a longer one is a program or a document.
const MOST_LABEL: usize = 40;

/// A command with one or two placeholders.
#[derive(Debug)]
pub(super) struct Template {
    words: Vec<OsString>,
    pub(super) places: Vec<Place>,
}

/// A placeholder: `{}` or a range such as `{1..64}`.
#[derive(Debug)]
pub(super) struct Place {
    /// Index of its word, and its bytes there.
    word: usize,
    bytes: Range<usize>,
    pub(super) range: Option<RangeInclusive<u64>>,
    /// How the command has the value: `--batch-size {}`, `BATCH={}` or `value {}`.
    pub(super) label: String,
}

impl Template {
    /// Finds the placeholders of a command.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none, if there are more than two, or if a range is empty.
    pub(super) fn read(words: &[OsString]) -> Result<Self, Failure> {
        if let Some(range) = expanded(words) {
            return Err(Failure::new(
                format!("the shell has put all values of the range {range} into the command"),
                format!("quote it: '{range}'"),
            ));
        }
        let mut places: Vec<Place> = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let Some(text) = word.to_str() else { continue };
            for bytes in placeholders(text) {
                let range = range(&text[bytes.clone()])?;
                let option = index.checked_sub(1).and_then(|before| words[before].to_str());
                let label = match option.filter(|option| option.starts_with('-') && !option.contains('{')) {
                    _ if text.len() > MOST_LABEL => "value {}".to_owned(),
                    _ if bytes.len() < text.len() => format!("{}{{}}{}", &text[..bytes.start], &text[bytes.end..]),
                    Some(option) => format!("{option} {{}}"),
                    None => "value {}".to_owned(),
                };
                places.push(Place { word: index, bytes, range, label });
            }
        }
        if let [first, second] = &mut places[..]
            && first.label == second.label
        {
            (first.label, second.label) = ("first {}".to_owned(), "second {}".to_owned());
        }
        match places.len() {
            1 | 2 => Ok(Self { words: words.to_vec(), places }),
            0 => Err(Failure::new(
                "the command has no placeholder for the value to search for",
                "write {} in its place, as in `snapscope fit -- python train.py --batch-size {}`",
            )),
            more => Err(Failure::new(
                format!("the command has {more} placeholders, and a search is for one value or two"),
                "write values in place of the others",
            )),
        }
    }

    /// Returns the command with a value for each placeholder.
    pub(super) fn command(&self, values: &[u64]) -> Vec<OsString> {
        let mut words = self.words.clone();
        // From the last on, so that the places of the others stay.
        for (place, value) in self.places.iter().zip(values).rev() {
            let text = words[place.word].to_str().expect("placeholders are found in texts");
            let (before, after) = (&text[..place.bytes.start], &text[place.bytes.end..]);
            words[place.word] = format!("{before}{value}{after}").into();
        }
        words
    }
}

/// Returns the range whose values follow one another in a command, at least three: shells write ranges out.
fn expanded(words: &[OsString]) -> Option<String> {
    let values: Vec<Option<u64>> = words.iter().map(|word| word.to_str()?.parse().ok()).collect();
    let mut runs = values.chunk_by(|&before, &after| before.is_some() && after == before.map(|value| value + 1));
    let run = runs.find(|run| run.len() >= 3)?;
    Some(format!("{{{}..{}}}", run[0]?, run[run.len() - 1]?))
}

pub(in crate::commands) fn has_placeholder(word: &str) -> bool {
    !placeholders(word).is_empty()
}

fn placeholders(text: &str) -> Vec<Range<usize>> {
    let ends = |start: usize| text[start..].find('}').map(|length| start..start + length + 1);
    let is_place = |bytes: &Range<usize>| {
        let inner = &text[bytes.start + 1..bytes.end - 1];
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        inner.is_empty() || inner.split_once("..").is_some_and(|(from, to)| digits(from) && digits(to))
    };
    text.match_indices('{').filter_map(|(start, _)| ends(start)).filter(is_place).collect()
}

fn range(place: &str) -> Result<Option<RangeInclusive<u64>>, Failure> {
    let Some((from, to)) = place.trim_matches(['{', '}']).split_once("..") else { return Ok(None) };
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if (1..=to).contains(&from) => Ok(Some(from..=to)),
        _ => Err(Failure::new(
            format!("{place} is no range of values"),
            "write the smallest value, which is at least 1, and the largest: {1..64}",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Template, Failure> {
        Template::read(&words.iter().map(Into::into).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(words: &str, values: &[u64], command: &str, labels: &[&str]) {
        let template = read(&words.split_whitespace().collect::<Vec<_>>()).expect("placeholders");
        assert_eq!(template.command(values), command.split_whitespace().collect::<Vec<_>>());
        assert_eq!(template.places.iter().map(|place| place.label.as_str()).collect::<Vec<_>>(), labels);
    }

    #[test]
    fn placeholders_are_found_anywhere() {
        check("a.py --batch {}", &[7], "a.py --batch 7", &["--batch {}"]);
        check("env BATCH={} a.py {1..9}", &[7, 8], "env BATCH=7 a.py 8", &["BATCH={}", "value {}"]);
        check("a.py --size={}x{8..16}", &[70, 8], "a.py --size=70x8", &["--size={}x{8..16}", "--size={}x{}"]);
        check("a.py {} {}", &[3, 4], "a.py 3 4", &["first {}", "second {}"]);
        check("a.py {'a':1} {x} -b{1..4}", &[3], "a.py {'a':1} {x} -b3", &["-b{}"]);
        assert_eq!(read(&["{'a': 1}", "{}"]).unwrap().command(&[3]), ["{'a': 1}", "3"]);
        assert_eq!(read(&["{16..64}"]).unwrap().places[0].range, Some(16..=64));
    }

    #[test]
    fn other_commands_are_refused() {
        let message = |words: &[&str]| read(words).unwrap_err().message;
        assert!(message(&["python", "{x}"]).contains("no placeholder"));
        assert!(message(&["python", "{}", "{}", "{}"]).contains("3 placeholders"));
        assert!(message(&["python", "{}", "--length", "8", "9", "10"]).contains("the range {8..10}"));
        assert!(read(&["python", "{}", "--betas", "8", "9", "11", "10"]).is_ok());
        assert_eq!(message(&["python", "{8..4}"]), "{8..4} is no range of values");
        for range in ["{0..4}", "{1..99999999999999999999}"] {
            assert!(message(&["python", range]).contains("no range"), "{range}");
        }
    }
}
