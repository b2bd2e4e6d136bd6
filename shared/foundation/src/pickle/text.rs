//! Parses the text encodings of protocol 0.

use super::heap::ErrorKind;
use num_bigint::BigInt;
use std::borrow::Cow;
use std::str::FromStr;

/// Maximum digits of a decimal number, as CPython's `sys.int_info.default_max_str_digits`.
const MAX_DIGITS: usize = 4300;

/// Parses a decimal integer, as `INT` and `LONG` write it.
pub(super) fn parse_int(line: &[u8]) -> Result<BigInt, ErrorKind> {
    if line.len() > MAX_DIGITS + 2 {
        return Err(ErrorKind::Limit { what: "digits in a number", limit: MAX_DIGITS as u64 });
    }
    let line = line.trim_ascii();
    let digits = line.strip_suffix(b"L").unwrap_or(line);
    BigInt::parse_bytes(digits, 10).ok_or_else(|| unexpected("a decimal number", line))
}

/// Parses a float or a memo index, as `FLOAT`, `PUT` and `GET` write it.
pub(super) fn parse<T: FromStr>(line: &[u8], expected: &'static str) -> Result<T, ErrorKind> {
    let text = std::str::from_utf8(line.trim_ascii()).ok();
    text.and_then(|text| text.parse().ok()).ok_or_else(|| unexpected(expected, line))
}

/// Decodes a quoted string with Python's escapes, as `STRING` writes it.
pub(super) fn unquote(line: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let line = line.trim_ascii();
    let inner = match line {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        _ => return Err(unexpected("a quoted string", line)),
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'\\' { unescape(&mut rest, &mut bytes)? } else { bytes.push(byte) }
    }
    Ok(bytes)
}

/// Decodes what follows a backslash in a Python byte string.
fn unescape(rest: &mut &[u8], bytes: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let Some((&escape, after)) = rest.split_first() else {
        return Err(unexpected("an escape", b"a backslash at the end"));
    };
    *rest = after;
    let simple = match escape {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'\\' | b'\'' | b'"' => escape,
        b'\n' => return Ok(()),
        b'x' => hex(rest, 2).ok_or_else(|| unexpected("two hexadecimal digits", rest))? as u8,
        b'0'..=b'7' => {
            let digits = after.iter().take(2).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
            let value = |value: u32, digit: &u8| value * 8 + u32::from(digit - b'0');
            let octal = after[..digits].iter().fold(u32::from(escape - b'0'), value);
            *rest = &after[digits..];
            octal as u8
        }
        _ => {
            bytes.push(b'\\');
            escape
        }
    };
    bytes.push(simple);
    Ok(())
}

/// Decodes Python's raw-unicode-escape encoding, as `UNICODE` writes it; also returns whether it had to be repaired.
///
/// Bytes are Latin-1, apart from `\uXXXX` and `\UXXXXXXXX`.
pub(super) fn raw_unicode(line: &[u8]) -> Result<(String, bool), ErrorKind> {
    let mut text = String::with_capacity(line.len());
    let mut mended = false;
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match after.first() {
            Some(b'u') if byte == b'\\' => 4,
            Some(b'U') if byte == b'\\' => 8,
            _ => {
                text.push(char::from(byte));
                rest = after;
                continue;
            }
        };
        rest = &after[1..];
        let code = hex(&mut rest, digits).ok_or_else(|| unexpected("hexadecimal digits after \\u", rest))?;
        mended |= char::from_u32(code).is_none();
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok((text, mended))
}

/// Decodes UTF-8; also returns whether it had to be repaired.
///
/// CPython also writes lone surrogates, which Rust's strings can't hold.
pub(super) fn utf8(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (Cow::Owned(String::from_utf8_lossy(bytes).into_owned()), true),
    }
}

fn hex(rest: &mut &[u8], digits: usize) -> Option<u32> {
    let (number, after) = rest.split_at_checked(digits)?;
    let text = std::str::from_utf8(number).ok().filter(|text| !text.starts_with('+'))?;
    *rest = after;
    u32::from_str_radix(text, 16).ok()
}

fn unexpected(expected: &'static str, found: &[u8]) -> ErrorKind {
    const SHOWN: usize = 24;
    let shown = String::from_utf8_lossy(&found[..found.len().min(SHOWN)]);
    ErrorKind::Unexpected { expected, found: format!("{shown:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_escapes() {
        assert_eq!(unquote(br"'a\n\x41\101\\\'\q'").unwrap(), b"a\nAA\\'\\q");
        assert_eq!(unquote(b"\"plain\"").unwrap(), b"plain");
        assert!(unquote(b"'open").is_err());
        assert!(unquote(br"'\x4'").is_err());
    }

    #[test]
    fn raw_unicode_escapes() {
        assert_eq!(raw_unicode(br"a\u00e9\U0001f600\n").unwrap(), ("aé😀\\n".to_owned(), false));
        assert_eq!(raw_unicode(b"\xe9").unwrap(), ("é".to_owned(), false));
        assert_eq!(raw_unicode(br"\ud800").unwrap(), ("\u{fffd}".to_owned(), true));
        assert!(raw_unicode(br"\u12").is_err());
    }

    #[test]
    fn numbers() {
        assert_eq!(parse_int(b"-12L").unwrap(), BigInt::from(-12));
        assert!(parse_int(b"1_0").is_ok(), "underscores are digits to Python as well");
        assert!(parse_int(b"").is_err());
        assert!(parse_int(&[b'9'; 5000]).is_err());
        assert_eq!(parse::<f64>(b"1e3", "").unwrap(), 1000.0);
        assert!(parse::<f64>(b"x", "").is_err());
    }
}
