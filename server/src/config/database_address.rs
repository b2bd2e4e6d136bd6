//! Holds the address of the database and hides its password.

use std::fmt;
use std::path::Path;

/// The address of the database; `Display` and `Debug` omit its password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// Makes an address from its text, whose scheme the caller has to check.
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn file(path: &Path) -> Self {
        Self(format!("sqlite:{}", path.display()))
    }

    /// Returns the path of a SQLite file, or `None` for a PostgreSQL server.
    pub fn path(&self) -> Option<&Path> {
        self.0.strip_prefix("sqlite:").map(Path::new)
    }

    /// Returns the address including its password.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A password may be in both places: `postgres://user:password@host/name?password=…`.
        let (place, query) = self.0.split_once('?').map_or((&*self.0, ""), |(place, _)| (place, "?…"));
        match place.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
            Some((scheme, (user, place))) => {
                let user = user.split_once(':').map_or(user, |(user, _)| user);
                write!(f, "{scheme}://{user}@{place}{query}")
            }
            None => write!(f, "{place}{query}"),
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_databases_are_not_shown() {
        for (address, shown) in [
            ("postgres://ada:hunter2@db/x", "postgres://ada@db/x"),
            ("postgres://db/x?user=ada&password=hunter2", "postgres://db/x?…"),
            ("postgres://ada:hunter2@db/x?sslmode=require&password=hunter2", "postgres://ada@db/x?…"),
            ("sqlite:/data/a.sqlite", "sqlite:/data/a.sqlite"),
        ] {
            let address = DatabaseAddress::new(address);
            assert_eq!((address.to_string(), format!("{address:?}")), (shown.to_owned(), shown.to_owned()));
        }
    }
}
