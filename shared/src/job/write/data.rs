//! Writes the table of the data with every key.

use super::super::data::{Data, NORMALIZATIONS, SPREADS};
use super::super::raw::RawData;
use super::word;

pub(super) fn raw_data(data: &Data) -> RawData {
    let ((lengths, shortest), (batches, smallest)) = (data.lengths.parts(), data.batches.parts());
    RawData {
        lengths: word(SPREADS, &lengths),
        shortest,
        batches: word(SPREADS, &batches),
        smallest,
        seed: Some(data.seed),
        longest_first: Some(data.longest_first),
        pad_to_multiple_of: Some(data.pad_to_multiple_of),
        samples: data.samples,
        drop_last: Some(data.drop_last),
        prefetch: Some(data.prefetch),
        pin_memory: Some(data.pin_memory),
        reuse_buffer: Some(data.reuse_buffer),
        normalize: word(NORMALIZATIONS, &data.normalize),
    }
}
