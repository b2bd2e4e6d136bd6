//! Settles keys with numbers and words: checks the written value, or fills in the default.

use super::super::domain::{Names, Real, Whole, name_of};
use super::super::nearest::did_you_mean;
use super::super::problem::{Problem, excerpt};
use super::super::raw::{Key, Table};
use super::Resolver;
use foundation::base::format;

impl Resolver {
    /// Settles a whole number.
    pub(super) fn whole<R: Default>(&mut self, raw: &mut Table<'_, R>, key: &Key<R, u64, Whole>, default: u64) -> u64 {
        let given = raw.given(key).copied();
        let value = self.whole_within(key, given, default);
        raw.settle(key, value);
        value
    }

    /// Settles a whole number that has no default.
    pub(super) fn optional_whole<R: Default>(
        &mut self,
        raw: &mut Table<'_, R>,
        key: &Key<R, u64, Whole>,
    ) -> Option<u64> {
        raw.given(key).is_some().then(|| self.whole(raw, key, key.domain.least))
    }

    /// Returns a whole number within the limits of a key.
    pub(super) fn whole_within<R, T>(&mut self, key: &Key<R, T, Whole>, given: Option<u64>, default: u64) -> u64 {
        let Some(value) = given else { return default };
        let Whole { least, most, because } = key.domain;
        if (least..=most).contains(&value) {
            return value;
        }
        let because = if value > most { because } else { "" };
        let (least, most) = (format::count(least), format::count(most));
        let message = format!("{} is not between {least} and {most}", format::count(value));
        self.problem(key.path, message, because);
        default
    }

    /// Settles a real number.
    pub(super) fn real<R: Default>(&mut self, raw: &mut Table<'_, R>, key: &Key<R, f64, Real>, default: f64) -> f64 {
        let given = raw.given(key).copied();
        let value = self.real_within(key, given, default);
        raw.settle(key, value);
        value
    }

    /// Settles a real number that has no default.
    pub(super) fn optional_real<R: Default>(&mut self, raw: &mut Table<'_, R>, key: &Key<R, f64, Real>) -> Option<f64> {
        raw.given(key).is_some().then(|| self.real(raw, key, key.domain.most))
    }

    /// Returns a real number within the limits of a key.
    pub(super) fn real_within<R, T>(&mut self, key: &Key<R, T, Real>, given: Option<f64>, default: f64) -> f64 {
        let Some(value) = given else { return default };
        let Real { least, most, words } = key.domain;
        if (least..=most).contains(&value) {
            return value;
        }
        self.problem(key.path, format!("{value} is out of range"), format!("write a number {words}"));
        default
    }

    /// Settles one of the words of a key.
    pub(super) fn word<R: Default, V: Copy + PartialEq>(
        &mut self,
        raw: &mut Table<'_, R>,
        key: &Key<R, String, Names<V>>,
        default: V,
    ) -> V {
        self.word_of(raw, key, key.domain, default)
    }

    /// Settles one of a few words, where they depend on other keys.
    pub(super) fn word_of<R: Default, D, V: Copy + PartialEq>(
        &mut self,
        raw: &mut Table<'_, R>,
        key: &Key<R, String, D>,
        names: Names<V>,
        default: V,
    ) -> V {
        let value = self.choice(key.path, raw.given(key), default, names);
        raw.settle(key, name_of(names, &value).to_owned());
        value
    }

    /// Returns the value of one of a few words.
    pub(super) fn choice<V: Copy>(&mut self, path: &str, given: Option<&String>, default: V, names: Names<V>) -> V {
        let Some(word) = given else { return default };
        if let Some((_, value)) = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            return *value;
        }
        if let Some(problem) = Problem::of_scripts(path, Some(word)) {
            self.problems.push(problem);
            return default;
        }
        let words = names.iter().map(|(name, _)| *name);
        let hint = did_you_mean(word, words.clone());
        let hint = hint.unwrap_or_else(|| format!("the possible values are {}", words.collect::<Vec<_>>().join(", ")));
        self.problem(path, format!("unknown value `{}`", excerpt(word)), hint);
        default
    }
}
