//! Encodes messages as bytes.
//!
//! postcard rather than JSON: it writes values without names, so that encoder and decoder need a third of the code in a
//! module that everybody downloads, and the bytes of pictures need no second channel.
//! Both ends are always of the same build, so that the format needs no version.

use serde::{Deserialize, Serialize};

/// Returns the bytes of a message.
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
    use crate::ask::{AllocationKey, GetDetails, Order, Report};
    use shared::analysis::{Category, Profile, ProfileFrame, ProfileRow, RankFigures};
    use shared::report::{HeldSegment, LiveGroup, LiveGroups, Reserved, Room, Summary};
    use shared::trace::Action;

    #[test]
    fn messages_come_back() {
        let order = Order::Ask(7, GetDetails { device: 1, allocation: u32::MAX }.into());
        assert_eq!(read(&write(&order)), Some(order));
        let data = PictureData { bands: vec![1, 2, 255], ..PictureData::default() };
        assert_eq!(read(&write(&data)), Some(data));
    }

    #[test]
    fn reports_come_back() {
        let row = ProfileRow {
            frames: vec![0],
            category: Category::Gradient,
            bytes: 9,
            count: 2,
            largest: AllocationKey::Event(7),
        };
        let frame = ProfileFrame { name: "f".into(), filename: "/srv/a.py".into(), line: 3 };
        let profile = Profile { moment: 5, frames: vec![frame], rows: vec![row] };
        assert_eq!(read(&write(&profile)), Some(profile));
        let figures =
            RankFigures { peak_by_category: [(Category::Collective, 9)].into(), steps: 3, ..RankFigures::default() };
        assert_eq!(read(&write(&figures)), Some(figures));
        let summary = Summary { actions: vec![(Action::Oom, 1), (Action::Alloc, 4)], ..Summary::default() };
        assert_eq!(read(&write(&summary)), Some(summary));
        let groups = LiveGroups { groups: vec![LiveGroup::default()], ..LiveGroups::default() };
        assert_eq!(read(&write(&groups)), Some(groups));
        let reserved =
            Reserved { pools: vec![Room::default()], held: vec![HeldSegment::default()], ..Reserved::default() };
        assert_eq!(read(&write(&reserved)), Some(reserved));
    }

    #[test]
    fn other_bytes_are_no_message() {
        assert_eq!(read::<Report>(&[]), None);
        assert_eq!(read::<Report>(&[255, 255, 1]), None);
    }
}
