//! Parses sizes of memory as people write them.

/// Units and their bytes; `b` comes last because every other unit ends in it.
const UNITS: &[(&str, u64)] = &[
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("b", 1),
];

/// Returns the bytes of a size such as `48GiB`, `47.5 GB` or `512MiB`.
///
/// Returns `None` without a unit, because 48 could mean bytes as well as gibibytes.
pub fn parse(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((lower.strip_suffix(name)?.trim_end(), *unit)))?;
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_plain {
        return None;
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes < u64::MAX as f64).then_some(bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes: impl Into<Option<u64>>) {
        assert_eq!(parse(text), bytes.into());
    }

    #[test]
    fn sizes_have_a_unit() {
        check("48GiB", 48 << 30);
        check("47.5 gb", 47_500_000_000);
        check("512 MiB", 512 << 20);
        check("1TiB", 1 << 40);
        check("7B", 7);
        check("48", None);
        check("GiB", None);
        check("-1GiB", None);
        check("1e9GiB", None);
        check("1.2.3GiB", None);
        check("infGiB", None);
        check(&format!("{}GiB", "9".repeat(400)), None);
    }
}
