//! Averages samples to pixels and writes them as PNG.

/// Samples per pixel of the picture, in each direction.
pub(super) const SAMPLES: u32 = 2;

/// Bytes per sample and per pixel.
pub(super) const CHANNELS: usize = 3;

/// Averages each square of samples into one pixel.
pub(super) fn thinned_out(samples: &[u8], width: usize) -> Vec<u8> {
    let side = SAMPLES as usize;
    let rows: Vec<&[u8]> = samples.chunks_exact(width * CHANNELS).collect();
    let mut out = Vec::with_capacity(samples.len() / (side * side));
    for rows in rows.chunks_exact(side) {
        for x in 0..width / side {
            for channel in 0..CHANNELS {
                let values = rows.iter().flat_map(|row| (0..side).map(move |dx| (row, dx)));
                let sum: usize = values.map(|(row, dx)| usize::from(row[(x * side + dx) * CHANNELS + channel])).sum();
                out.push((sum / (side * side)) as u8);
            }
        }
    }
    out
}

pub(super) fn png(pixels: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("memory takes it");
    writer.write_image_data(pixels).expect("memory takes it");
    writer.finish().expect("memory takes it");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_samples_become_their_mean() {
        let (black, white) = ([0; 3], [255; 3]);
        let samples = [black, white, white, black].concat();
        assert_eq!(thinned_out(&samples, 2), [127; 3]);
    }
}
