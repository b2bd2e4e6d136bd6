//! Enums with names: one list for JSON, tables, addresses and messages.

/// Implements `ALL`, `name`, `of_name`, serde and, with the feature `openapi`, a schema for an enum without fields.
///
/// Formats that people read get the name; binary ones get the position in the list, a byte.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Axis { Events, Time }
/// foundation::names!(Axis { Events => "events", Time => "time" });
///
/// assert_eq!(Axis::of_name("time"), Some(Axis::Time));
/// assert_eq!(serde_json::to_string(&Axis::ALL).unwrap(), r#"["events","time"]"#);
/// ```
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        $crate::schema_of_names!($type { $($name),+ });
        $crate::serde_of_names!($type { $($variant => $name),+ });
    };
    // The same with other words for people, which a function of this name returns.
    (
        $type:ident { $($variant:ident => $name:literal as $words:literal),+ $(,)? }
        $(#[$about:meta])* fn $of_words:ident
    ) => {
        $crate::names!($type { $($variant => $name),+ });

        impl $type {
            $(#[$about])*
            pub fn $of_words(self) -> &'static str {
                match self {
                    $(Self::$variant => $words),+
                }
            }
        }
    };
}

/// Defines an enum of stable codes; the doc comment of each variant is its meaning.
///
/// A code is a name as in [`names!`](crate::names); `meaning` returns its sentence, which the documents of the API and
/// for users show too. Each sentence is one line.
///
/// ```
/// foundation::codes! {
///     /// Reason why a door does not open.
///     pub enum Stuck {
///         /// The door is locked.
///         Locked => "locked",
///     }
/// }
///
/// assert_eq!((Stuck::Locked.to_string(), Stuck::Locked.meaning()), ("locked".to_owned(), "The door is locked."));
/// ```
#[macro_export]
macro_rules! codes {
    (
        $(#[$about:meta])*
        pub enum $type:ident {
            $(#[doc = $meaning:literal] $variant:ident => $name:literal),+ $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = $meaning] $variant),+
        }

        $crate::schema_of_names!($type { $($name: $meaning),+ });
        $crate::serde_of_names!($type { $($variant => $name),+ });

        impl $type {
            /// Returns the meaning of the code as a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning.trim_ascii()),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Implements `ALL`, `name`, `of_name` and serde for [`names!`](crate::names) and [`codes!`](crate::codes).
#[doc(hidden)]
#[macro_export]
macro_rules! serde_of_names {
    ($type:ident { $($variant:ident => $name:literal),+ }) => {
        impl $type {
            /// All variants in the order of their names' list.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name in JSON, tables and addresses: a promise to programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return serializer.serialize_str(self.name());
                }
                let position = Self::ALL.iter().position(|one| one.name() == self.name());
                serializer.serialize_u8(position.unwrap_or_default() as u8)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error as _;
                if deserializer.is_human_readable() {
                    let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                    return Self::of_name(&name).ok_or_else(|| D::Error::unknown_variant(&name, &[$($name),+]));
                }
                let position = u8::deserialize(deserializer)?;
                let found = Self::ALL.get(usize::from(position)).copied();
                found.ok_or_else(|| D::Error::custom("a position beyond the list of names"))
            }
        }
    };
}

/// Implements the schema of an enum that [`names!`](crate::names) has given names.
#[cfg(feature = "openapi")]
#[doc(hidden)]
#[macro_export]
macro_rules! schema_of_names {
    ($type:ident { $($name:literal),+ }) => {
        $crate::schema_of_names!($type { $($name),+ } described None::<&str>);
    };
    ($type:ident { $($name:literal: $meaning:literal),+ }) => {
        $crate::schema_of_names!($type { $($name),+ } described Some(concat!($("`", $name, "`:", $meaning, "\n\n"),+)));
    };
    ($type:ident { $($name:literal),+ } described $description:expr) => {
        impl $crate::base::utoipa::PartialSchema for $type {
            fn schema() -> $crate::base::utoipa::openapi::RefOr<$crate::base::utoipa::openapi::Schema> {
                use $crate::base::utoipa::openapi::{ObjectBuilder, Type};
                let names = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($name),+]));
                names.description($description.map(str::trim_end)).into()
            }
        }

        impl $crate::base::utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
        }
    };
}

/// Programs without documents of an API need no schemas.
#[cfg(not(feature = "openapi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! schema_of_names {
    ($type:ident { $($name:literal $(: $meaning:literal)?),+ }) => {};
}

#[cfg(test)]
mod tests {
    use crate::base::Severity;

    #[test]
    fn names_come_back_in_text_and_positions_in_bytes() {
        for severity in Severity::ALL {
            let json = serde_json::to_string(&severity).unwrap();
            assert_eq!(json, format!("{:?}", severity.name()));
            assert_eq!(serde_json::from_str::<Severity>(&json).unwrap(), severity);
        }
        let unknown = serde_json::from_str::<Severity>("\"fatal\"").unwrap_err().to_string();
        assert!(unknown.contains("fatal") && unknown.contains("warning"), "{unknown}");
    }
}
