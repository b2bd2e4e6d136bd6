//! Removes the names of people, machines and projects from texts.

use super::texts::{is_nobody, is_storage};
use crate::base::ShortSort;
use hashbrown::{HashMap, HashSet};

/// Replacement for a name; no name is shorter, so that no text grows.
const REPLACEMENT: char = '*';

/// Minimum length of a name in characters, because every text contains single letters.
const MIN_CHARS: usize = 2;

/// Minimum length in characters of a name that is also found inside words, as in `ada2` and `AdaNorm`.
const MIN_CHARS_INSIDE: usize = 3;

/// Names that must not be in a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    lower: HashSet<String>,
    all: Vec<String>,
}

/// [`Names`] by their first letter, each list in the order in which its names are looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedNames {
    by_first: HashMap<char, Vec<String>>,
}

impl Names {
    /// Adds a name that was found, unless it reveals nothing about anybody.
    ///
    /// Also adds the words of `ada.byron@host`, and those words of `session_ada_2024` that are neither storage nor
    /// numbers.
    pub(super) fn add_found(&mut self, name: &str) {
        let words = |marks: &[char]| {
            let is_word = |part: &&str| part.chars().count() > MIN_CHARS && part.chars().all(char::is_alphabetic);
            name.split(marks).filter(is_word).collect::<Vec<_>>()
        };
        let mut names = vec![name];
        names.extend(words(&['@', '.', ' ']));
        let is_compound = |part: &str| part.chars().count() > MIN_CHARS && is_storage(part);
        if name.split(['_', '-', '.']).any(is_compound) {
            names.extend(words(&['_', '-', '.']));
        }
        names.into_iter().filter(|name| !is_nobody(name)).for_each(|name| self.add(name));
    }

    /// Adds a name as it is, for example one that a person asked for.
    pub(super) fn add(&mut self, name: &str) {
        let name = name.trim();
        let has_word = name.contains(char::is_alphanumeric);
        if has_word && name.chars().count() >= MIN_CHARS && self.lower.insert(name.to_lowercase()) {
            self.all.push(name.to_owned());
        }
    }

    /// Returns the names, the longest first, because one may be a part of another.
    pub(super) fn into_sorted(mut self) -> Vec<String> {
        self.all.short_sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.all
    }
}

impl SortedNames {
    /// Indexes names that are sorted by length, the longest first.
    pub(super) fn new(names: &[String]) -> Self {
        let mut by_first: HashMap<char, Vec<String>> = HashMap::new();
        for name in names {
            let first = name.chars().next().and_then(|first| first.to_lowercase().next());
            by_first.entry(first.unwrap_or_default()).or_default().push(name.clone());
        }
        Self { by_first }
    }

    /// Removes all names that occur as words of their own, in any case; `None` if the text contains none.
    ///
    /// Each start of a word is compared with the names of the same first letter only.
    pub(super) fn without(&self, text: &str) -> Option<String> {
        let mut clean = String::new();
        let (mut from, mut at) = (0, 0);
        let mut before = None;
        while let Some(c) = text[at..].chars().next() {
            match self.length_at(text, at, before) {
                Some(length) => {
                    clean.push_str(&text[from..at]);
                    clean.push(REPLACEMENT);
                    at += length;
                    from = at;
                    before = text[..at].chars().next_back();
                }
                None => {
                    at += c.len_utf8();
                    before = Some(c);
                }
            }
        }
        (from > 0).then(|| clean + &text[from..])
    }

    /// Returns the length in bytes of the name that begins at a position; `before` is the preceding character.
    fn length_at(&self, text: &str, at: usize, before: Option<char>) -> Option<usize> {
        let first = text[at..].chars().next()?;
        let is_inside = before.is_some_and(char::is_alphanumeric) && !is_unspaced(first);
        if is_inside && !(before.is_some_and(char::is_lowercase) && first.is_uppercase()) {
            return None;
        }
        let names = self.by_first.get(&first.to_lowercase().next()?)?;
        names.iter().find_map(|name| {
            let length = length_of_same(&text[at..], name)?;
            let may_be_inside = name.chars().nth(MIN_CHARS_INSIDE - 1).is_some();
            let (found, rest) = (&text[at..at + length], &text[at + length..]);
            let is_end = found.ends_with(is_unspaced)
                || ends_word(rest, may_be_inside)
                || may_be_inside && is_possessive(found, rest);
            (is_end && (may_be_inside || !is_inside)).then_some(length)
        })
    }
}

/// Returns true for letters without upper case, whose scripts write no spaces between words or join words to names:
/// `山田太郎のジョブ` is "the job of 山田太郎".
fn is_unspaced(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Returns true for a name before an `s` that ends the word, as in `bobs_loss`; `los` before an `s` is a common word.
fn is_possessive(name: &str, rest: &str) -> bool {
    rest.strip_prefix('s').is_some_and(|rest| ends_word(rest, false)) && !is_nobody(&format!("{name}s"))
}

/// Returns true if a word ends before `rest`; inside words, a digit or a capital letter begins another word.
fn ends_word(rest: &str, may_be_inside: bool) -> bool {
    let mut rest = rest.chars();
    let (next, second) = (rest.next(), rest.next());
    let is_next_word = |c: char| c.is_ascii_digit() || c.is_uppercase() && second.is_some_and(char::is_lowercase);
    next.is_none_or(|c| !c.is_alphanumeric() || may_be_inside && is_next_word(c))
}

/// Returns the length in bytes of `name` at the start of a text, in any case; `None` if the text begins otherwise.
fn length_of_same(text: &str, name: &str) -> Option<usize> {
    let mut rest = text.chars();
    let is_same = name.chars().all(|c| rest.next().is_some_and(|other| other.to_lowercase().eq(c.to_lowercase())));
    is_same.then(|| text.len() - rest.as_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[&str], clean: &str) {
        let mut list = Names::default();
        names.iter().for_each(|name| list.add(name));
        assert_eq!(SortedNames::new(&list.into_sorted()).without(text).as_deref().unwrap_or(text), clean);
    }

    #[test]
    fn a_name_goes_wherever_it_is_a_word() {
        check("ada's run, ADA_2 and lada", &["ada"], "*'s run, *_2 and lada");
        check("ada-ada/ada", &["ada"], "*-*/*");
        check("é ada é", &["ada"], "é * é");
        check("Ada Byron and ada", &["ada", "Ada Byron"], "* and *");
        check("JÜRGEN and jürgen2", &["Jürgen"], "* and *2");
        check("NIUAdam of myNiu, AdamW", &["niu", "adam"], "*Adam of my*, AdamW");
        check("qu, qua, qu2", &["qu"], "*, qua, qu2");
        check("bobs_loss of bobsled", &["bob"], "*s_loss of bobsled");
        check("loss", &["los"], "loss");
        check("山田太郎のジョブ", &["山田太郎"], "*のジョブ");
        check("训练_李雷2的实验run李雷", &["李雷"], "训练_*2的实验run*");
        check("김철수의 작업", &["김철수"], "*의 작업");
        check("nothing", &["ada"], "nothing");
        check("a", &["a"], "a");
    }

    #[test]
    fn words_of_every_stack_are_no_names() {
        let mut names = Names::default();
        ["torch", "Root", "1000", "ada", "ADA", "byron.ada@home"].iter().for_each(|name| names.add_found(name));
        assert_eq!(names.into_sorted(), ["byron.ada@home", "byron", "ada"]);
        let mut names = Names::default();
        ["session_2024_bob", "carl-ws9", "own_thing"].iter().for_each(|name| names.add_found(name));
        assert_eq!(names.into_sorted(), ["session_2024_bob", "own_thing", "carl-ws9", "carl", "bob"]);
    }
}
