//! The declaration of a table of a config, from which all lists of its keys follow.
//!
//! One macro declares a key with its type and its valid values. Resolving a key also writes its value into a second
//! config, which is what the recorder reads; a key that is only looked up through its declaration cannot be read and
//! not written.

use super::super::reader::FromValue;

/// A key of the table `R` for values of type `T`, of which those in `domain` are valid.
pub(crate) struct Key<R, T, D = ()> {
    pub name: &'static str,
    /// Path from the top of the config, such as `model.hidden`.
    pub path: &'static str,
    /// Returns the value in a table.
    pub get: fn(&R) -> Option<&T>,
    /// Returns the place of the value in a table.
    pub slot: fn(&mut R) -> &mut Option<T>,
    pub domain: D,
}

impl<R, T: FromValue, D> Key<R, T, D> {
    /// Returns the keys of the table that is the value.
    pub(super) const fn keys_below(&self) -> &'static [&'static str] {
        T::KEYS
    }
}

/// The keys of a table as written, and with the values in effect.
pub(crate) struct Table<'a, R> {
    /// The keys as written.
    pub given: &'a R,
    /// The keys with the values in effect, which resolve to the same job again.
    pub settled: R,
    /// Names of the keys that the table may have here.
    pub known: Vec<&'static str>,
}

impl<'a, R: Default> Table<'a, R> {
    pub(crate) fn new(given: &'a R) -> Self {
        Self { given, settled: R::default(), known: Vec::new() }
    }

    /// Returns the value of a key as written.
    pub(crate) fn given<T, D>(&mut self, key: &Key<R, T, D>) -> Option<&'a T> {
        self.known.push(key.name);
        (key.get)(self.given)
    }

    /// Sets the value of a key that is in effect.
    pub(crate) fn settle<T, D>(&mut self, key: &Key<R, T, D>, value: T) {
        self.known.push(key.name);
        *(key.slot)(&mut self.settled) = Some(value);
    }

    /// Settles a key that is on or off.
    pub(crate) fn flag(&mut self, key: &Key<R, bool>, default: bool) -> bool {
        let value = self.given(key).copied().unwrap_or(default);
        self.settle(key, value);
        value
    }
}

/// Declares a table of a config: its keys with their types and valid values.
///
/// From it follow the table with one optional field for each key, the table of [`Key`]s, and the
/// function that reads a document.
/// Derived code would stop at the first wrong key; this code finds all wrong keys at once, each with its path.
/// `or` names the key that a text in place of the table stands for, and `with` the tables whose keys may have been meant
/// for this one.
macro_rules! raw_table {
    ($(#[$meta:meta])* $name:ident($all:ident: $keys:ident) at $prefix:literal
        $(, expects $expected:literal $(or $short:ident)?)?
        { $($(#[$doc:meta])* $key:ident: $type:ty $(as $domain:ty = $values:expr)?,)* } $(with $($inner:ident),*)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)*
        }

        #[doc = concat!("Keys of a [`", stringify!($name), "`].")]
        pub(crate) struct $keys {
            $(pub $key: crate::raw::Key<$name, $type $(, $domain)?>,)*
        }

        pub(crate) static $all: $keys = $keys {
            $($key: crate::raw::Key {
                name: stringify!($key),
                path: concat!($prefix, stringify!($key)),
                get: |raw| raw.$key.as_ref(),
                slot: |raw| &mut raw.$key,
                domain: ($($values)?),
            },)*
        };

        impl $name {
            /// Keys of the table, in the order of the reference.
            pub const KEYS: &[&str] = &[$(stringify!($key)),*];

            pub(crate) fn read(
                entries: &[(String, crate::document::Value)],
                reader: &mut crate::reader::Reader<'_>,
            ) -> Self {
                let mut raw = Self::default();
                for (key, value) in entries {
                    if !raw.set(key, key, value, reader) && !crate::reader::is_spent(key, value) {
                        reader.unknown(key, Self::KEYS, &[$($((stringify!($inner), $all.$inner.keys_below()),)*)?]);
                    }
                }
                raw
            }

            /// Reads a field from the value of a key, which may have a foreign name; false if there is no such field.
            pub(crate) fn set(
                &mut self,
                field: &str,
                key: &str,
                value: &crate::document::Value,
                reader: &mut crate::reader::Reader<'_>,
            ) -> bool {
                match field {
                    $(stringify!($key) => self.$key = reader.value(key, value),)*
                    _ => return false,
                }
                true
            }

            /// Returns the keys that have a value, in the order of the reference.
            pub fn keys_set(&self) -> impl Iterator<Item = &'static str> {
                [$((stringify!($key), self.$key.is_some())),*].into_iter().filter(|(_, set)| *set).map(|(key, _)| key)
            }

            /// Returns the valid values of a key of this table, or of a path such as `model.hidden`.
            pub(crate) fn domain(path: &str) -> Option<&'static dyn crate::domain::Domain> {
                let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
                match (key, rest) {
                    $((stringify!($key), None) => Some(&$all.$key.domain),)*
                    $((stringify!($key), Some(rest)) => <$type as crate::reader::FromValue>::domain(rest),)*
                    _ => None,
                }
            }
        }

        $(impl crate::reader::FromValue for $name {
            const EXPECTED: &str = $expected;

            const KEYS: &[&str] = Self::KEYS;

            fn from_value(
                value: &crate::document::Value,
                reader: &mut crate::reader::Reader<'_>,
            ) -> Option<Self> {
                match value {
                    crate::document::Value::Table(entries) => Some(Self::read(entries, reader)),
                    $(crate::document::Value::Text(text) => {
                        Some(Self { $short: Some(text.clone()), ..Self::default() })
                    })?
                    _ => None,
                }
            }

            fn domain(path: &str) -> Option<&'static dyn crate::domain::Domain> {
                Self::domain(path)
            }
        })?
    };
}
