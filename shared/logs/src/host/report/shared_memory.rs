//! Reports shared memory that nobody gives back, that fills queues, or that is used up.

use super::climb::{course, duration, finding, name};
use crate::host::{HostLog, LeftFiles, SharedClimb, SharedFolder, SharedPeak, shared_climb, shared_peak};
use shared::analysis::{Confidence, FindingCode};
use shared::base::{Severity, format};
use shared::report::Finding;

/// Fraction of `/dev/shm` above which it counts as almost full.
const FULL: f64 = 0.9;

/// Least memory that is worth a finding after the end of a program.
const LEAST_LEFT: u64 = 16 << 20;

pub(super) fn findings(log: &HostLog) -> Vec<Finding> {
    let climb = shared_climb(log);
    let found = match &climb {
        Some(climb) => Some(climbs(&log.shared, climb)),
        None => shared_peak(log).as_ref().map(at_peak),
    };
    let left = log.shared.left.as_ref().filter(|left| left.bytes >= LEAST_LEFT);
    found.into_iter().chain(left.map(left_files)).chain(nearly_full(&log.shared)).collect()
}

fn climbs(folder: &SharedFolder, SharedClimb { climb, unmapped_bytes, is_certain }: &SharedClimb) -> Finding {
    let (name, bytes) = (name(climb), format::bytes(climb.climb_bytes));
    let is_unmapped = unmapped_bytes * 2 > climb.climb_bytes;
    let when = if climb.falls { "within each epoch and falls at its end" } else { "through the whole log" };
    let title = format!("Shared memory of {name} climbs by {bytes} {when}");
    let who = match is_unmapped {
        true => format!(
            "At the end of the log, {} are in files of /dev/shm that no process has mapped: closed, but not removed.",
            format::bytes(*unmapped_bytes)
        ),
        false => "The processes have it mapped: they keep what was sent to them.".to_owned(),
    };
    let kept = climb.kept_bytes.map(|bytes| format!("After each fall, {} more of it stay.", format::bytes(bytes)));
    let doubt = "The log does not say whether the machine's shared memory climbs as well: reading files that were in \
                 /dev/shm before looks the same.";
    let doubt = (!is_certain).then(|| doubt.to_owned());
    let shows = [Some(course(climb)), Some(who), kept, doubt, limit(folder, climb.bytes_per_s)];
    let shows: Vec<String> = shows.into_iter().flatten().collect();
    let advice = match is_unmapped {
        true => {
            "Remove each block once its last reader has it: segment.close(), and in one process also segment.unlink(), \
             since close() alone keeps the file.\n\
             Use a strategy that leaves no files: ``torch.multiprocessing.set_sharing_strategy(\"file_descriptor\")``.\n\n\
             With PyTorch's strategy file_system, a process that was killed leaves its files. If ls /dev/shm lists no \
             more files from one minute to the next, this is not the cause."
        }
        false => {
            "Append copies to lists: ``outputs.append(batch.clone())``, or array.copy() of an array on segment.buf.\n\
             Close segments that were read: ``segment.close(); segment.unlink()``.\n\n\
             A batch of a worker lives in shared memory for as long as anything refers to it or to a part of it. If df /dev/shm and Shmem in /proc/meminfo stay \
             as they are while the training runs, this is not the cause."
        }
    };
    let confidence = if *is_certain { Confidence::Medium } else { Confidence::Low };
    let code = FindingCode::SharedMemoryKept;
    Finding { confidence, ..finding(code, Severity::Warning, climb.climb_bytes, title, shows.join(" "), advice) }
}

/// Says when shared memory is full.
fn limit(folder: &SharedFolder, bytes_per_s: f64) -> Option<String> {
    let (size, used) = (folder.size_bytes?, folder.samples.last()?.used_bytes);
    let ms = size.saturating_sub(used) as f64 * 1000.0 / bytes_per_s.max(1.0);
    Some(format!(
        "/dev/shm has {}: at this rate, it is full after {} of climbing, and the next block ends in a bus error.",
        format::bytes(size),
        duration(ms as i64)
    ))
}

fn at_peak(peak: &SharedPeak) -> Finding {
    let SharedPeak { family, bytes, peak_bytes, full_percent, workers } = peak;
    let name = if family.name.is_empty() { "the program" } else { &family.name };
    let title = format!(
        "Queues in shared memory have {} of the {} of {name} at the peak",
        format::bytes(*bytes),
        format::bytes(*peak_bytes)
    );
    let who = match workers {
        0 => "they are filled".to_owned(),
        count => format!("{} fill them", format::counted(*count as u64, "worker")),
    };
    let shows = format!(
        "Shared memory is nearly as high in {full_percent} % of the samples that have any, so that the queues are full: \
         {who} faster than batches are taken out."
    );
    let advice = "As the queues are full, fewer batches do as well: DataLoader(…, num_workers=2, prefetch_factor=2), \
                  or Queue(maxsize=4).\nSend samples of uint8 that become floats on the GPU, which need a quarter.\n\n\
                  A loader holds num_workers × prefetch_factor batches, each of batch_size samples. If steps then wait \
                  for data, the queues were not too deep.";
    finding(FindingCode::SharedMemoryAtPeak, Severity::Info, *bytes, title, shows, advice)
}

fn left_files(left: &LeftFiles) -> Finding {
    let title = format!("{} of shared memory stay after the end of the program", format::bytes(left.bytes));
    let files = format::counted(u64::from(left.files), "file");
    let shows = format!("{files} that appeared since its start are still in /dev/shm, such as {}.", left.example);
    let advice = "Remove them, if no other program has made them: they use memory until the machine restarts.\n\nA \
                  program that is killed cannot remove its blocks; in one that ends by itself, call segment.unlink() \
                  for each block.";
    finding(FindingCode::SharedMemoryKept, Severity::Warning, left.bytes, title, shows, advice)
}

pub(super) fn nearly_full(folder: &SharedFolder) -> Option<Finding> {
    let (size, used) = (folder.size_bytes?, folder.samples.iter().map(|one| one.used_bytes).max()?);
    if (used as f64) < FULL * size as f64 {
        return None;
    }
    let title = format!("/dev/shm is almost full: {} of {} are in use", format::bytes(used), format::bytes(size));
    let mut shows = "A process that writes to shared memory once it is full ends with a bus error.".to_owned();
    let first = folder.samples.first().map_or(used, |first| first.used_bytes);
    if folder.files_so_far == 0 && first < used / 2 {
        let count = format::counted(folder.samples.len() as u64, "sample");
        shows += &format!(
            " It rose from {} in {count}: something keeps the batches that come through it.",
            format::bytes(first)
        );
    }
    let advice = "Keep copies of batches alone: ``outputs.append(batch.clone())``, and see ``ls -lt /dev/shm``.\nGive the container more of it: ``docker run --shm-size=8g``, or an emptyDir with medium: Memory at \
                  /dev/shm.\nOr send less through it: fewer workers, a smaller prefetch_factor, smaller samples.\nIf ls /dev/shm lists \
                  files of programs that have ended, remove those.";
    Some(finding(FindingCode::SharedMemoryFull, Severity::Warning, used, title, shows, advice))
}
