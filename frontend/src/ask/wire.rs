//! Encodes messages as bytes.
//!
//! postcard rather than JSON: it writes values without names, so that encoder and decoder need a third of the code in a
//! module that everybody downloads, and the bytes of pictures need no second channel.
//! Both ends are always of the same build, so that the format needs no version.

use serde::{Deserialize, Serialize};

/// Returns the bytes of a message.
///
/// # Panics
/// Never panics for messages and answers, which are plain data.
pub fn write(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).expect("messages are plain data")
}

/// Returns the message that [`write()`] encoded, `None` if the bytes are anything else.
pub fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::picture::PictureData;
    use crate::ask::{GetDetails, Order, Report};

    #[test]
    fn messages_come_back() {
        let order = Order::Ask(7, GetDetails { device: 1, allocation: u32::MAX }.into());
        assert_eq!(read(&write(&order)), Some(order));
        let data = PictureData { bands: vec![1, 2, 255], ..PictureData::default() };
        assert_eq!(read(&write(&data)), Some(data));
    }

    #[test]
    fn other_bytes_are_no_message() {
        assert_eq!(read::<Report>(&[]), None);
        assert_eq!(read::<Report>(&[255, 255, 1]), None);
    }
}
