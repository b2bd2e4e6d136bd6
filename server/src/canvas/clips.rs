//! Limits drawing to rectangles, which plotters cannot.
//!
//! The pixels from before a clip are kept and put back outside of its rectangle when it ends.

use super::pixels::CHANNELS;

/// Clips that have not ended, the latest one last.
pub(super) struct Clips {
    /// Samples per row.
    width: usize,
    open: Vec<Clip>,
}

struct Clip {
    /// Top left and bottom right corner.
    corners: [(i32, i32); 2],
    before: Vec<u8>,
}

impl Clips {
    pub(super) fn new(width: u32) -> Self {
        Self { width: width as usize, open: Vec::new() }
    }

    pub(super) fn begin(&mut self, samples: &[u8], corners: [(i32, i32); 2]) {
        self.open.push(Clip { corners, before: samples.to_vec() });
    }

    pub(super) fn end(&mut self, samples: &mut [u8]) {
        let Some(Clip { corners: [(left, top), (right, bottom)], mut before }) = self.open.pop() else { return };
        let end = |at: i32, most: usize| usize::try_from(at).unwrap_or(0).min(most);
        let columns = end(left, self.width) * CHANNELS..end(right, self.width) * CHANNELS;
        let row_bytes = self.width.max(1) * CHANNELS;
        let rows = samples.len() / row_bytes;
        for row in end(top, rows)..end(bottom, rows) {
            let (columns, start) = (columns.clone(), row * row_bytes);
            if columns.start < columns.end {
                let inside = start + columns.start..start + columns.end;
                before[inside.clone()].copy_from_slice(&samples[inside]);
            }
        }
        samples.copy_from_slice(&before);
    }

    pub(super) fn end_all(&mut self, samples: &mut [u8]) {
        while !self.open.is_empty() {
            self.end(samples);
        }
    }
}
