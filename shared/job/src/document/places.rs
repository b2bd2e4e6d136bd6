//! Finds the positions of the keys in a document.

use foundation::base::ShortSort;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser};
use toml::de::{DeTable, DeValue};

use super::super::problem::{Place, Problem};
use super::Format;

/// Positions of the keys of a document by path, such as `model.hidden` or `model.layers.0.kernel`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyPlaces(HashMap<String, Place>);

impl KeyPlaces {
    /// Finds the keys of a text, as far as it can be read.
    pub(in super::super) fn of(text: &str, format: Format) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut places = HashMap::new();
        match format {
            Format::Toml => {
                let mut bytes = Vec::new();
                if let Ok(table) = DeTable::parse(text) {
                    toml_table(table.get_ref(), "", &mut bytes);
                }
                places.extend(places_of(text, bytes));
            }
            // The JSON reader does not report positions, and JSON is a subset of YAML.
            Format::Yaml | Format::Json => yaml(text, &mut places),
        }
        Self(places)
    }

    /// Removes a key whose value came from elsewhere.
    pub(in super::super) fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Adds the position of its key to each problem, and sorts the problems by position.
    ///
    /// If the key is missing, the position is that of the table around it.
    #[must_use]
    pub fn locate(&self, problems: Vec<Problem>) -> Vec<Problem> {
        let located =
            |problem: Problem| Problem { place: problem.place.or_else(|| self.find(&problem.path)), ..problem };
        let mut problems: Vec<_> = problems.into_iter().map(located).collect();
        problems.short_sort_by_key(|problem| {
            problem.place.map_or((usize::MAX, 0), |Place { line, column }| (line, column))
        });
        problems
    }

    fn find(&self, path: &str) -> Option<Place> {
        let mut path = path;
        loop {
            if let Some(place) = self.0.get(path) {
                return Some(*place);
            }
            // Text after the key, such as ` with batch=2`, is cut off like a key.
            path = &path[..path.rfind(['.', ' ', '['])?];
        }
    }
}

/// Longest path that is kept, in bytes.
///
/// All keys of a config have shorter paths, and each key below a long one would repeat it.
const MOST_PATH_BYTES: usize = 200;

/// Returns the path of a key in a table, `None` if it or the table's path is too long to be kept.
fn join(path: Option<&str>, key: &str) -> Option<String> {
    let path = path?;
    let dot = if path.is_empty() { "" } else { "." };
    (path.len() + key.len() < MOST_PATH_BYTES).then(|| format!("{path}{dot}{key}"))
}

/// Converts byte offsets of keys to positions, in one pass over the text.
fn places_of(text: &str, mut bytes: Vec<(String, usize)>) -> impl Iterator<Item = (String, Place)> {
    bytes.short_sort_by_key(|&(_, byte)| byte);
    let mut at = 0;
    let mut place = Place { line: 1, column: 1 };
    bytes.into_iter().map(move |(path, byte)| {
        for c in text[at..byte].chars() {
            place = match c {
                '\n' => Place { line: place.line + 1, column: 1 },
                _ => Place { column: place.column + 1, ..place },
            };
        }
        at = byte;
        (path, place)
    })
}

fn toml_table(table: &DeTable<'_>, path: &str, bytes: &mut Vec<(String, usize)>) {
    for (key, value) in table {
        let Some(path) = join(Some(path), key.get_ref()) else { continue };
        bytes.push((path.clone(), key.span().start));
        toml_value(value.get_ref(), &path, bytes);
    }
}

fn toml_value(value: &DeValue<'_>, path: &str, bytes: &mut Vec<(String, usize)>) {
    match value {
        DeValue::Table(table) => toml_table(table, path, bytes),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let Some(path) = join(Some(path), &index.to_string()) else { return };
                bytes.push((path.clone(), item.span().start));
                toml_value(item.get_ref(), &path, bytes);
            }
        }
        _ => {}
    }
}

/// A list or table that has not ended, with its path if that is kept.
enum Open {
    List { path: Option<String>, next: usize },
    Table { path: Option<String>, key: Option<Option<String>> },
}

fn yaml(text: &str, places: &mut HashMap<String, Place>) {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { return };
        let place = Place { line: span.start.line(), column: span.start.col() + 1 };
        match event {
            Event::Scalar(text, ..) => match open.last_mut() {
                Some(Open::Table { path, key: key @ None }) => {
                    let path = join(path.as_deref(), &text);
                    if let Some(path) = path.clone() {
                        places.entry(path).or_insert(place);
                    }
                    *key = Some(path);
                }
                _ => drop(value_path(&mut open, place, places)),
            },
            Event::Alias(_) => drop(value_path(&mut open, place, places)),
            Event::SequenceStart(..) => {
                let path = value_path(&mut open, place, places);
                open.push(Open::List { path, next: 0 });
            }
            Event::MappingStart(..) => {
                let path = value_path(&mut open, place, places);
                open.push(Open::Table { path, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => drop(open.pop()),
            _ => {}
        }
    }
}

/// Returns the path of the value that begins: the key of the table, or the next index of the list.
fn value_path(open: &mut [Open], place: Place, places: &mut HashMap<String, Place>) -> Option<String> {
    match open.last_mut() {
        None => Some(String::new()),
        Some(Open::Table { key, .. }) => key.take().unwrap_or_default(),
        Some(Open::List { path, next }) => {
            let path = join(path.as_deref(), &next.to_string());
            places.extend(path.clone().map(|path| (path, place)));
            *next += 1;
            path
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, format: Format, expected: &[(&str, usize, usize)]) {
        let places = KeyPlaces::of(text, format);
        for (path, line, column) in expected {
            assert_eq!(places.0.get(*path), Some(&Place { line: *line, column: *column }), "{path} in {places:?}");
        }
    }

    #[test]
    fn keys_are_found_in_each_format() {
        let toml = "# a comment\nbatch = 4\nmodel.preset = \"gpt2\"\n[data]\nx = 1\nlist = [1,\n { y = 2 }]\n";
        let keys = [("batch", 2, 1), ("model", 3, 1), ("model.preset", 3, 7), ("data", 4, 2), ("data.x", 5, 1)];
        check(toml, Format::Toml, &keys);
        check(toml, Format::Toml, &[("data.list.1", 7, 2), ("data.list.1.y", 7, 4)]);
        let yaml = "# a comment\nbatch: 4\nmodel:\n  preset: gpt2\n  sizes: [1, 2]\nlist:\n  - y: 2\n";
        check(yaml, Format::Yaml, &[("batch", 2, 1), ("model.preset", 4, 3), ("model.sizes.1", 5, 14)]);
        check(yaml, Format::Yaml, &[("list.0.y", 7, 5)]);
        let json = "{\n\t\"batch\": 4,\n  \"model\": {\"preset\": \"gpt2\", \"é\": [1, {\"y\": 2}]}\n}\n";
        check(json, Format::Json, &[("batch", 2, 2), ("model.preset", 3, 13), ("model.é.1.y", 3, 41)]);
    }

    #[test]
    fn a_problem_is_told_the_nearest_place() {
        let places = KeyPlaces::of("batch = 0\n[model]\nfamily = \"mlp\"\n", Format::Toml);
        let line = |path: &str| places.locate(vec![Problem::new(path, "", "")])[0].place.map(|place| place.line);
        assert_eq!(line("batch"), Some(1));
        assert_eq!(line("batch with precision=fp32"), Some(1));
        assert_eq!(line("model.hidden"), Some(2));
        assert_eq!(line("model.family.x[0]"), Some(3));
        assert_eq!(line("steps"), None);
        assert_eq!(line(""), None);
    }

    #[test]
    fn keys_below_a_long_one_do_not_repeat_it() {
        let key = "k".repeat(1000);
        let places = |text: String, format| KeyPlaces::of(&text, format).0.into_keys().collect::<Vec<_>>();
        assert_eq!(places(format!("a = 1\n[{key}]\nb = [1]\n"), Format::Toml), ["a"]);
        assert_eq!(places(format!("a: 1\n{key}:\n  b: [1]\n"), Format::Yaml), ["a"]);
    }

    #[test]
    fn what_cannot_be_read_has_no_places() {
        assert_eq!(KeyPlaces::of("batch = ", Format::Toml), KeyPlaces::default());
        assert_eq!(KeyPlaces::of("{\"a\": [", Format::Json).0.len(), 1);
    }
}
