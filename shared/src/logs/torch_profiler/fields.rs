//! Reads the fields of one event, which is a JSON object with at most one level of arguments.

/// Field of an event: a text without its quotes, or any other value as it stands.
pub(super) type Field<'a> = (&'a [u8], &'a [u8]);

/// Passes the fields of an object and those of its `args` to `visit`; damaged JSON ends it early.
pub(super) fn fields<'a>(object: &'a [u8], mut visit: impl FnMut(Field<'a>)) {
    let mut at = 0;
    while let Some(start) = find(object, at, b'"') {
        let Some(end) = string_end(object, start + 1) else { return };
        let key = &object[start + 1..end];
        let Some(value) = value_start(object, end + 1) else { return };
        match object[value] {
            b'"' => {
                let Some(end) = string_end(object, value + 1) else { return };
                visit((key, &object[value + 1..end]));
                at = end + 1;
            }
            // The arguments are read as if they were fields.
            b'{' if key == b"args" => at = value + 1,
            b'{' | b'[' => {
                let Some(end) = skip(object, value) else { return };
                at = end;
            }
            _ => {
                let rest = &object[value..];
                let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
                visit((key, rest[..length].trim_ascii_end()));
                at = value + length;
            }
        }
    }
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == wanted).map(|position| from + position)
}

/// Returns the position of the quote that ends a string.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the position of the value behind a colon.
fn value_start(bytes: &[u8], from: usize) -> Option<usize> {
    let mut has_colon = false;
    for (position, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b':' if !has_colon => has_colon = true,
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ if has_colon => return Some(position),
            _ => return None,
        }
    }
    None
}

/// Returns the position behind an object or a list.
fn skip(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_fields() {
        let object =
            br#"{"ph": "i", "ts": 12.5, "list": [1, {"a": "]"}], "args": {"Bytes": -512, "n": {"x": 1}}, "z": true}"#;
        let mut all = Vec::new();
        fields(object, |(key, value)| {
            all.push((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned()));
        });
        let all: Vec<(&str, &str)> = all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(all, [("ph", "i"), ("ts", "12.5"), ("Bytes", "-512"), ("z", "true")]);
    }

    #[test]
    fn damaged_objects_end_early() {
        for object in [
            &b"{\"a"[..],
            b"{\"a\"",
            b"{\"a\":",
            b"{\"a\": \"b",
            b"{\"a\": [",
            b"{\"a\" 1}",
            b"\"\\",
            b"{\"args\": {\"a\": 1",
        ] {
            fields(object, |_| {});
        }
    }
}
