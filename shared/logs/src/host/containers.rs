//! Reads what `docker stats` prints about containers, and Slurm's `seff` about jobs.
//!
//! ```text
//! CONTAINER ID   NAME     CPU %     MEM USAGE / LIMIT     MEM %     NET I/O           BLOCK I/O     PIDS
//! 88f32688b78c   ollama   0.00%     2.575GiB / 15.58GiB   16.52%    1.92GB / 16.2MB   0B / 1.89GB   40
//!
//! Job ID: 307386
//! Memory Utilized: 76.45 GB (estimated maximum)
//! Memory Efficiency: 10.27% of 744.72 GB (744.72 GB/node)
//! ```

use super::log::Container;
use shared::base::size;

/// Reader of tables, whose rows mean nothing without their head.
#[derive(Debug, Default)]
pub(super) struct ContainerReader {
    has_head: bool,
    /// True if an id stands in front of each name, as since Docker 1.13.
    has_id: bool,
    /// Job that is reported on, and the memory that it used.
    job: String,
    used_bytes: Option<u64>,
}

impl ContainerReader {
    /// Reads a line; most heads and lines about a job have no container.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<Container>> {
        if line.contains("MEM USAGE") && line.contains("LIMIT") {
            *self = Self { has_head: true, has_id: line.contains("CONTAINER ID"), ..Self::default() };
            return Some(None);
        }
        if let Some((key, value)) = line.trim_start().split_once(": ") {
            return self.of_job(key, value);
        }
        let (before, rest) = line.split_once('%').filter(|_| self.has_head)?;
        let (used, limit) = rest.split_once('/')?;
        let name = format!("Container {}", before.split_ascii_whitespace().nth(usize::from(self.has_id))?);
        Some(Some(Container { name, used_bytes: size::leading(used)?, limit_bytes: size::leading(limit)? }))
    }

    fn of_job(&mut self, key: &str, value: &str) -> Option<Option<Container>> {
        match key {
            "Job ID" => self.job = format!("Job {}", value.trim().chars().take(40).collect::<String>()),
            "Memory Utilized" if !self.job.is_empty() => self.used_bytes = size::leading(value),
            "Memory Efficiency" => {
                let (used_bytes, limit_bytes) = (self.used_bytes.take()?, size::leading(value.split_once(" of ")?.1)?);
                return Some(Some(Container { name: std::mem::take(&mut self.job), used_bytes, limit_bytes }));
            }
            _ => return None,
        }
        Some(None)
    }
}
