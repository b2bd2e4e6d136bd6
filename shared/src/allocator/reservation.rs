//! Address ranges that expandable segments have reserved.

/// Reserved range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reservation {
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
    pub(super) unit_bytes: u64,
}

/// Table of all reservations; rows of released ones are reused.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    rows: Vec<Option<Reservation>>,
}

impl Reservations {
    pub(super) fn add(&mut self, reservation: Reservation) -> u32 {
        let index = self.rows.iter().position(Option::is_none).unwrap_or(self.rows.len());
        self.rows.resize(self.rows.len().max(index + 1), None);
        self.rows[index] = Some(reservation);
        index as u32
    }

    pub(super) fn get(&self, index: u32) -> Reservation {
        self.rows[index as usize].expect("a block's reservation lives as long as the block")
    }

    pub(super) fn remove(&mut self, index: u32) {
        self.rows[index as usize] = None;
    }
}
