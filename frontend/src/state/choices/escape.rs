//! Escapes user-typed texts for use in an address.

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
