//! Enums with names: one list for JSON, tables, addresses and messages.

/// Implements `ALL`, `name`, `of_name`, serde and, with the feature `openapi`, a schema for an enum without fields.
///
/// Formats that people read get the name; binary ones get the position in the list, a byte.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Axis { Events, Time }
/// shared::names!(Axis { Events => "events", Time => "time" });
///
/// assert_eq!(Axis::of_name("time"), Some(Axis::Time));
/// assert_eq!(serde_json::to_string(&Axis::ALL).unwrap(), r#"["events","time"]"#);
/// ```
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        $crate::schema_of_names!($type { $($name),+ });

        impl $type {
            /// All variants in the order of their names' list.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name in JSON, tables and addresses: a promise to programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// Returns the variant with a name.
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
        impl $crate::base::utoipa::PartialSchema for $type {
            fn schema() -> $crate::base::utoipa::openapi::RefOr<$crate::base::utoipa::openapi::Schema> {
                use $crate::base::utoipa::openapi::{ObjectBuilder, Type};
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($name),+])).into()
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
    ($type:ident { $($name:literal),+ }) => {};
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
