//! Settles keys with numbers and words: checks the written value, or fills in the default.

use super::super::domain::{Limits, Names, name_of};
use super::super::nearest::did_you_mean;
use super::super::problem::{Problem, excerpt};
use super::super::raw::{Key, Table};
use super::Resolver;

impl Resolver {
    /// Settles a number.
    pub(super) fn number<R: Default, T: Copy + 'static, D: Limits<T>>(
        &mut self,
        raw: &mut Table<'_, R>,
        key: &Key<R, T, D>,
        default: T,
    ) -> T {
        let given = raw.given(key).copied();
        let value = self.number_within(key, given, default);
        raw.settle(key, value);
        value
    }

    /// Settles a number that has no default.
    pub(super) fn optional<R: Default, T: Copy + 'static, D: Limits<T>>(
        &mut self,
        raw: &mut Table<'_, R>,
        key: &Key<R, T, D>,
    ) -> Option<T> {
        raw.given(key).is_some().then(|| self.number(raw, key, key.domain.usual()))
    }

    /// Returns a number within the limits of a key.
    pub(super) fn number_within<R, K, T: Copy, D: Limits<T>>(
        &mut self,
        key: &Key<R, K, D>,
        given: Option<T>,
        default: T,
    ) -> T {
        let Some(value) = given else { return default };
        let Some((message, hint)) = key.domain.refusal(value) else { return value };
        self.problem(key.path, message, hint);
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
