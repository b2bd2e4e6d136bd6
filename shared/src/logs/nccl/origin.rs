//! Reads the beginning of a line of NCCL, which says which process printed it.

use crate::base::stamp::{self, Stamp};

/// Process and GPU that a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin<'a> {
    pub(super) host: &'a str,
    pub(super) pid: u32,
    pub(super) device: u32,
}

/// Splits a line into its origin, its date if it has one, and the message; `None` for lines that are not of NCCL.
///
/// `src/debug.cc` of NCCL has the forms. Launchers write more in front of them, such as `[rank0]: `.
///
/// ```text
/// node7:227602:227667 [0] NCCL INFO comm 0x5639e9f0e8c0 rank 0 nranks 8 …
/// [2026-11-24 10:00:00] node7:227602:227667 [0] NCCL INFO …
/// node7:227602:227667 [0] 12.345678 ncclCudaFree:152 NCCL TRACE Cuda Free pointer 0x7f…
/// ```
pub(super) fn split(line: &str) -> Option<(Origin<'_>, Option<Stamp>, &str)> {
    let (head, message) = line.split_once(" NCCL INFO ").or_else(|| line.split_once(" NCCL TRACE "))?;
    let mut before = head;
    // The device is the last number in brackets whose neighbour is a process.
    loop {
        let (left, right) = before.rsplit_once(" [")?;
        let device = right.split(']').next().and_then(|number| number.parse().ok());
        let process = left.rsplit(' ').next().unwrap_or_default();
        if let Some((device, (host, pid))) = device.zip(process_of(process)) {
            let stamp = stamp::stamp(&left[..left.len() - process.len()]);
            return Some((Origin { host, pid, device }, stamp, message));
        }
        before = left;
    }
}

/// Reads `host:pid:thread`.
fn process_of(text: &str) -> Option<(&str, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (thread, pid, host) = (parts.next()?, parts.next()?, parts.next()?);
    thread.parse::<u32>().ok()?;
    Some((host, pid.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, host: &str, pid: u32, device: u32, time_ms: Option<i64>) {
        let (origin, stamp, message) = split(line).expect(line);
        assert_eq!(origin, Origin { host, pid, device }, "{line}");
        assert_eq!((stamp.and_then(|stamp| stamp.epoch_ms()), message), (time_ms, "x 1"), "{line}");
    }

    #[test]
    fn lines_say_who_printed_them() {
        check("vm2:15364:15375 [3] NCCL INFO x 1", "vm2", 15_364, 3, None);
        check("[0] h100-1:227602:227667 [7] NCCL INFO x 1", "h100-1", 227_602, 7, None);
        check("[rank1]: a.b.c:1:2 [0] 12.345678 ncclCudaFree:152 NCCL TRACE x 1", "a.b.c", 1, 0, None);
        let time_ms = Some(1_795_514_400_000);
        check("[2026-11-24 10:00:00] vm2:15364:15375 [3] NCCL INFO x 1", "vm2", 15_364, 3, time_ms);
    }

    #[test]
    fn other_lines_have_no_origin() {
        for line in
            ["", "NCCL INFO x", "a [0] NCCL INFO x", "a:b:c [0] NCCL INFO x", "a:1:2 [x] NCCL INFO y", "a:1:2 [0] x"]
        {
            assert_eq!(split(line), None, "{line}");
        }
    }
}
