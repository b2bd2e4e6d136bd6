//! Reads sizes of memory: those that people type, and those that programs print.
//!
//! Programs divide by powers of 1024, whether they write `GiB`, `GB` or `G`; people who type `GB` may mean 10^9.

/// Larger sizes are none of a memory, but the sign of an overflow in the program that printed them.
const MOST_BYTES: f64 = (1_u64 << 53) as f64;

/// Returns the bytes of a unit in what a program prints: `GiB`, `GB`, `Gi` and `g` are the same.
pub fn unit_bytes(unit: &str) -> Option<u64> {
    let (letter, rest) = unit.as_bytes().split_first()?;
    let is_one = |known: &[&str]| known.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(rest));
    if letter.eq_ignore_ascii_case(&b'b') {
        return is_one(&["", "yte", "ytes"]).then_some(1);
    }
    let power = b"kmgtp".iter().position(|known| letter.eq_ignore_ascii_case(known))? + 1;
    is_one(&["", "b", "i", "ib"]).then_some(1 << (10 * power))
}

/// Returns the bytes of a size as people type it, such as `48GiB`, `47.5 GB` or `512MiB`.
///
/// Returns `None` without a unit, because 48 could mean bytes as well as gibibytes.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let binary = unit_bytes(unit).filter(|_| unit.ends_with(['b', 'B']))?;
    let is_decimal = unit.len() == 2;
    let unit_bytes = if is_decimal { 1000_u64.pow(binary.ilog2() / 10) } else { binary };
    let number = number.trim_end();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let bytes = number.parse::<f64>().ok().filter(|_| is_plain)? * unit_bytes as f64;
    (bytes < u64::MAX as f64).then_some(bytes.round() as u64)
}

/// Returns the bytes of a number in a cell of a table, such as `12.5g`, `3.2Gi`, `512M` or `99KiB`.
///
/// A number without a suffix is in units of `unit_bytes`. A comma is a decimal point, as some locales print it.
pub fn cell(text: &str, unit_bytes: u64) -> Option<u64> {
    // Most sizes are whole numbers below 2^53, for which the floating point below is exact, but slow.
    if let (Some(number), 1..=15) = (digits(text), text.len()) {
        return number.checked_mul(unit_bytes).filter(|bytes| *bytes < 1 << 53);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(text.len());
    let value: f64 = text[..end].replace(',', ".").parse().ok()?;
    let unit_bytes = if end == text.len() { unit_bytes } else { self::unit_bytes(&text[end..])? };
    whole(value * unit_bytes as f64)
}

/// Returns the size behind the first of these words, in bytes.
pub fn after<T: TryFrom<i64>>(text: &str, words: &str) -> Option<T> {
    leading(text.split_once(words)?.1)
}

/// Returns the size in front of the first of these words, in bytes.
pub fn before<T: TryFrom<i64>>(text: &str, words: &str) -> Option<T> {
    let left = text.split_once(words)?.0.trim_end();
    let number = left.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',')).len();
    let sign = usize::from(number[..start].ends_with('-'));
    leading(&left[start - sign..])
}

/// Returns the size in bytes with which a text begins, such as `2.88GiB`, `-0.51GiB`, `8.13 GB` or `8,192 bytes.`.
pub fn leading<T: TryFrom<i64>>(text: &str) -> Option<T> {
    let (number, rest) = leading_number(text);
    let value: f64 = number.parse().ok()?;
    // numpy 1.17 prints `139. MiB`.
    let rest = rest.trim_start_matches('.').trim_start();
    let unit = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
    let size = i64::try_from(whole(value.abs() * unit_bytes(unit)? as f64)?).ok()?;
    T::try_from(if value < 0.0 { -size } else { size }).ok()
}

/// Splits a text behind the number with which it begins, whose separators of thousands are removed.
pub fn leading_number(text: &str) -> (String, &str) {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let is_of_number =
        |(at, c): &(usize, char)| c.is_ascii_digit() || matches!(c, '.' | ',') || (*at == 0 && *c == '-');
    let end = text.char_indices().find(|one| !is_of_number(one)).map_or(text.len(), |(at, _)| at);
    let number = text[..end].trim_end_matches([',', '.']);
    (number.replace(',', ""), &text[number.len()..])
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number.wrapping_mul(10).wrapping_add(u64::from(byte & 15)))
    })
}

fn whole(bytes: f64) -> Option<u64> {
    (0.0..MOST_BYTES).contains(&bytes).then_some(bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1 << 30) as f64;

    #[track_caller]
    fn check(text: &str, bytes: impl Into<Option<u64>>) {
        assert_eq!(parse(text), bytes.into());
    }

    #[test]
    fn sizes_that_people_type_have_a_unit() {
        check("48GiB", 48 << 30);
        check("47.5 gb", 47_500_000_000);
        check("512 MiB", 512 << 20);
        check("1TiB", 1 << 40);
        check("7B", 7);
        check("17179869183GiB", 17_179_869_183 << 30);
        check("48", None);
        check("48G", None);
        check("GiB", None);
        check("-1GiB", None);
        check("1e9GiB", None);
        check("1.2.3GiB", None);
        check("infGiB", None);
        check(&format!("{}GiB", "9".repeat(400)), None);
    }

    #[test]
    fn cells_have_the_units_of_their_tools() {
        assert_eq!(cell("2048", 1 << 10), Some(2 << 20));
        assert_eq!(cell("1.5g", 1 << 10), Some(3 << 29));
        assert_eq!(cell("1,5g", 1 << 10), Some(3 << 29));
        assert_eq!(cell("3.0Gi", 1 << 10), Some(3 << 30));
        assert_eq!(cell("512B", 1 << 10), Some(512));
        assert_eq!(cell("7MiB", 1), Some(7 << 20));
        for text in ["", ".", "abc", "12x", "1.2.3", "-5", "1e400"] {
            assert_eq!(cell(text, 1), None, "{text}");
        }
    }

    #[test]
    fn sizes_stand_before_and_behind_words() {
        let gib = |value: f64| Some((value * GIB).round() as i64);
        let text = "(GPU 0; 15.78 GiB total capacity; 512 bytes free; max allowed: 6.77 GB).";
        assert_eq!(before(text, " total capacity"), gib(15.78));
        assert_eq!(before(text, " free"), Some(512_u64));
        assert_eq!(after(text, "max allowed: "), gib(6.77));
        assert_eq!(before("usage is 14.08 GiB for weight, 1", " for weight"), gib(14.08));
        assert_eq!(before("usage is •14.08 GiB for weight", " for weight"), gib(14.08));
        assert_eq!(before("and -0.67GiB for CUDAGraph memory", " for CUDAGraph"), gib(-0.67));
        assert_eq!(after("take 2.88GiB; non", "take "), gib(2.88));
        assert_eq!(after("takes -0.51GiB;", "takes "), gib(-0.51));
        assert_eq!(after("mem usage=8.13 GB.", "usage="), gib(8.13));
        assert_eq!(after("in use is 59,212,694,937 bytes.", "is "), Some(59_212_694_937_u64));
        assert_eq!(after::<u64>("takes -0.51GiB;", "takes "), None, "it is below zero");
        assert_eq!([before::<u64>("3.95 GiB", " free"), before("x for", " for"), before(" for", " for")], [None; 3]);
        assert_eq!([after::<u64>("free: much memory", "free: "), after("a 7", "a ")], [None; 2]);
    }

    #[test]
    fn sizes_may_touch_their_units() {
        assert_eq!(leading("98.000244MB memory"), Some(102_760_704_u64));
        assert_eq!(leading(" 385.25M."), Some(403_963_904_u64));
        assert_eq!(leading("7406166528 bytes."), Some(7_406_166_528_u64));
        assert_eq!(leading("0B"), Some(0_u64));
        assert_eq!(leading("139. MiB for an array"), Some(139_u64 << 20));
        assert_eq!([leading::<u64>("G"), leading("12"), leading("12 apples")], [None; 3]);
        // An overflow is no size.
        assert_eq!([leading::<u64>("17179869184.00 GiB"), leading("nan GiB"), leading("-1 GiB")], [None; 3]);
    }
}
