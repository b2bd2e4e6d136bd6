//! Draws the thumbnail of a recording as SVG paths.

/// Width of the picture, in SVG user units.
pub(crate) const WIDTH: u32 = 240;

/// Height of the picture, in SVG user units.
pub(crate) const HEIGHT: u32 = 64;

/// Two curves of a recording as SVG paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Area below the live bytes.
    pub live: String,
    /// Line of the reserved bytes.
    pub reserved: String,
}

/// Draws two curves, each in parts of equal width.
///
/// `top_bytes` is the value at the picture's top edge; pictures with the same one can be compared.
pub(crate) fn picture(live: &[u64], reserved: &[u64], top_bytes: u64) -> Picture {
    let line = steps(reserved, top_bytes);
    let area = steps(live, top_bytes);
    let live = if area.is_empty() { area } else { format!("M0 {HEIGHT}L{}V{HEIGHT}Z", &area[1..]) };
    Picture { live, reserved: line }
}

/// Returns a value at the top edge that leaves a margin of 1/16 above the highest curve; at least 1.
pub(crate) fn top_bytes<'a>(curves: impl IntoIterator<Item = &'a [u64]>) -> u64 {
    let highest = curves.into_iter().flatten().copied().max().unwrap_or(0);
    (highest + highest / 16).max(1)
}

/// Draws a stepped line from the left edge to the right one: `M0 y H x V y …`.
fn steps(curve: &[u64], top_bytes: u64) -> String {
    let x = |index: usize| tenths(index as f64 * f64::from(WIDTH) / curve.len() as f64);
    let y = |bytes: u64| tenths(f64::from(HEIGHT) * (1.0 - bytes as f64 / top_bytes as f64));
    let mut path = String::new();
    for (index, bytes) in curve.iter().enumerate() {
        match index {
            0 => path += &format!("M0 {}", y(*bytes)),
            _ => path += &format!("V{}", y(*bytes)),
        }
        path += &format!("H{}", x(index + 1));
    }
    path
}

/// Formats a number with at most one decimal.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_become_steps() {
        let picture = picture(&[0, 5], &[10, 10], 10);
        assert_eq!(picture.reserved, "M0 0H120V0H240");
        assert_eq!(picture.live, "M0 64L0 64H120V32H240V64Z");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(picture(&[], &[], top_bytes([])), Picture { live: String::new(), reserved: String::new() });
        assert_eq!(top_bytes([&[16_u64, 3][..], &[32]]), 34);
    }
}
