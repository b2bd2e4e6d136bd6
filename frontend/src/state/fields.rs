//! Short versioned texts of named fields (`v1;name=value;name=value`), and escapes of what users type in them.

use std::collections::BTreeMap;

/// Fields of a text, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(pub(super) BTreeMap<String, String>);

/// Reason why a text could not be read as a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStateError {
    /// The text was written by a later version of this page.
    Newer,
    /// The text is not a view.
    Garbled,
}

impl ViewStateError {
    /// Returns the message for the user; another view may already be on the screen, and stays.
    pub fn message(self, is_page_open: bool) -> String {
        let (problem, remedy) = match self {
            Self::Newer => ("was saved by a newer version of Snapscope", "Reload the page to get that version."),
            Self::Garbled => ("can't be read", "Check that the address is complete."),
        };
        let instead = if is_page_open { "the view stays as it is" } else { "the whole timeline is shown" };
        format!("The view in this address {problem}, so {instead}. {remedy}")
    }
}

impl Fields {
    /// Reads a text and upgrades it to `version`; `upgrades[i]` converts version `i + 1` to version `i + 2`.
    ///
    /// # Errors
    /// Returns an error if the text has no valid version, or a later one.
    pub(super) fn read(text: &str, version: u32, upgrades: &[fn(&mut Self)]) -> Result<Self, ViewStateError> {
        debug_assert_eq!(upgrades.len() + 1, version as usize, "one step to each version");
        let mut parts = text.split(';');
        let first = parts.next().and_then(|part| part.strip_prefix('v'));
        let written: u32 = first.and_then(|digits| digits.parse().ok()).ok_or(ViewStateError::Garbled)?;
        if written == 0 {
            return Err(ViewStateError::Garbled);
        }
        let done = upgrades.get(written as usize - 1..).ok_or(ViewStateError::Newer)?;
        let pair = |part: &str| part.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut fields = Self(parts.filter_map(pair).collect());
        done.iter().for_each(|upgrade| upgrade(&mut fields));
        Ok(fields)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Length limit for a text in an address, in bytes, because mail and chat programs truncate long addresses.
pub(in crate::state) const MOST_TEXT_BYTES: usize = 1000;

/// Percent-encodes a text so that it contains no field separators and no characters that an address can't have.
pub(in crate::state) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b',' | b'/' | b'*' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// Decodes a text of [`escaped`]; a `%` that starts no escape stays as it is.
pub(in crate::state) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..position]);
        let digits = rest.get(position + 1..position + 3);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[position + 3..];
            }
            None => {
                bytes.push(b'%');
                rest = &rest[position + 1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2 renamed the field to `colour`, and version 3 changed its values to numbers.
    const UPGRADES: &[fn(&mut Fields)] = &[
        |fields| {
            if let Some(value) = fields.0.remove("color") {
                fields.0.insert("colour".to_owned(), value);
            }
        },
        |fields| {
            if fields.get("colour") == Some("red") {
                fields.0.insert("colour".to_owned(), "1".to_owned());
            }
        },
    ];

    #[track_caller]
    fn check(text: &str, colour: Result<Option<&str>, ViewStateError>) {
        let read = Fields::read(text, 3, UPGRADES);
        assert_eq!(read.as_ref().map(|fields| fields.get("colour")).map_err(|error| *error), colour);
    }

    #[test]
    fn each_version_is_brought_up_to_date() {
        check("v1;color=red", Ok(Some("1")));
        check("v2;colour=red", Ok(Some("1")));
        check("v3;colour=red", Ok(Some("red")));
        check("v3", Ok(None));
    }

    #[test]
    fn later_versions_are_not_guessed() {
        check("v4;colour=red", Err(ViewStateError::Newer));
        check("v0;colour=red", Err(ViewStateError::Garbled));
        check("colour=red", Err(ViewStateError::Garbled));
    }

    #[test]
    fn every_text_comes_back() {
        for text in ["", "relu", "a;b=c&d", "forward (x)", "größer ☃", "100%", "%zz", "^adam.*\\(", "\"<'\n"] {
            let out = escaped(text);
            assert_eq!(unescaped(&out), text);
            assert!(!out.contains([';', '=', ' ', '#', '"', '<', '>', '`']) && out.is_ascii(), "{out}");
        }
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(unescaped("100%"), "100%");
        assert_eq!(unescaped("%e"), "%e");
        assert_eq!(unescaped("%é"), "%é");
        assert_eq!(unescaped("%ff"), "\u{fffd}");
    }
}
