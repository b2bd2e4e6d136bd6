//! Converts pixels of a palette to colours.
//!
//! The loop is in this crate because the page's module is built for size and not for speed: a picture has a million
//! pixels and more, and the page waits for their colours.

/// Colour of each pixel value, as red, green, blue and opacity.
pub type Palette = [[u8; 4]; 256];

/// Converts rows of `width` pixels to colours in `colored`, the last row first.
///
/// The order is reversed because textures begin with their bottom row and canvases with their top row.
/// The content of `colored` is replaced and its memory used again.
pub fn color_top_down(pixels: &[u8], width: usize, palette: &Palette, colored: &mut Vec<[u8; 4]>) {
    colored.clear();
    colored.reserve_exact(pixels.len());
    for row in pixels.chunks_exact(width.max(1)).rev() {
        colored.extend(row.iter().map(|&value| palette[usize::from(value)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_turned_over_and_coloured() {
        let mut palette = [[0; 4]; 256];
        (palette[1], palette[7]) = ([1, 2, 3, 255], [7, 8, 9, 255]);
        let mut colored = vec![[5; 4]; 100];
        color_top_down(&[0, 1, 7, 7], 2, &palette, &mut colored);
        assert_eq!(colored, [palette[7], palette[7], palette[0], palette[1]]);
        color_top_down(&[], 0, &palette, &mut colored);
        assert!(colored.is_empty());
    }
}
