//! Reads what `docker stats` prints about containers.
//!
//! ```text
//! CONTAINER ID   NAME     CPU %     MEM USAGE / LIMIT     MEM %     NET I/O           BLOCK I/O     PIDS
//! 88f32688b78c   ollama   0.00%     2.575GiB / 15.58GiB   16.52%    1.92GB / 16.2MB   0B / 1.89GB   40
//! ```

use super::log::Container;
use shared::base::size;

/// Reader of a table, whose rows mean nothing without their head.
#[derive(Debug, Default)]
pub(super) struct ContainerReader {
    has_head: bool,
    /// True if an id stands in front of each name, as since Docker 1.13.
    has_id: bool,
}

impl ContainerReader {
    /// Reads a line of a table; the head has no container.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<Container>> {
        if line.contains("MEM USAGE") && line.contains("LIMIT") {
            *self = Self { has_head: true, has_id: line.contains("CONTAINER ID") };
            return Some(None);
        }
        let (before, rest) = line.split_once('%').filter(|_| self.has_head)?;
        let (used, limit) = rest.split_once('/')?;
        let name = before.split_ascii_whitespace().nth(usize::from(self.has_id))?.to_owned();
        Some(Some(Container { name, used_bytes: size::leading(used)?, limit_bytes: size::leading(limit)? }))
    }
}
