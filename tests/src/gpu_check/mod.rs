//! Compares the snapshots of the same configs on a real GPU and on the virtual one.

pub mod sequences;
pub mod table;

use std::path::Path;

use server::config::RecorderConfig;
use server::recording::repro::{Limits, Recording, Watcher, run};
use shared::api::RecorderLine;
use shared::job::{Card, Cards, Device, Job, Overrides};

use crate::corpus::decode;
use sequences::{Agreement, Step, steps};
use table::Comparison;

/// Real GPU as described by its driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealGpu {
    pub name: String,
    /// Compute capability, such as `9.0`.
    pub capability: String,
}

impl RealGpu {
    /// Arguments of the `nvidia-smi` query that [`Self::parse`] reads.
    pub const QUERY: [&str; 3] = ["--query-gpu=name,compute_cap", "--format=csv,noheader", "--id=0"];

    pub fn parse(answer: &str) -> Option<Self> {
        let (name, capability) = answer.lines().next()?.rsplit_once(',')?;
        Some(Self { name: name.trim().to_owned(), capability: capability.trim().to_owned() })
    }

    /// Returns the virtual card that corresponds to this GPU, with the memory that PyTorch reports.
    ///
    /// A card of the table is used if product and memory match; the memory varies by some tenths of a percent with the
    /// driver.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no virtual card of this compute capability.
    pub fn card(&self, memory_bytes: u64) -> Result<Card, String> {
        let is_near = |card: &Card| card.memory_bytes.abs_diff(memory_bytes) <= memory_bytes / 200;
        match Card::all().find(|card| card.product == self.name && is_near(card)) {
            Some(card) => Ok(card),
            None => Card::named(&format!("custom:{memory_bytes}B:{}", self.capability)).map_err(|e| e.to_string()),
        }
    }
}

/// Recording on one of the two GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub recording: Recording,
    /// Events of the device that the job ran on.
    pub steps: Vec<Step>,
}

/// Records a job on a device.
///
/// # Errors
///
/// Returns a sentence with the reason if the recording fails or its file cannot be read.
pub fn record(config: &RecorderConfig, job: &Job, device: Device) -> Result<Side, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let output = folder.path().join("snapshot.pickle");
    let (index, place) = match &device {
        Device::Virtual(cards) => (0, Overrides { card: Some(cards.to_string()), ..Overrides::default() }),
        Device::Cuda(index) => {
            (i64::from(*index), Overrides { device: Some(format!("cuda:{index}")), ..Overrides::default() })
        }
    };
    let job = place.apply(job.to_raw()).resolve().map_err(|problems| problems[0].to_string())?;
    let recording = run(config, &job, &Limits::default(), &output, &mut Deaf)
        .map_err(|failure| format!("{} ({})", failure.message, failure.log_tail.last().map_or("", String::as_str)))?;
    Ok(Side { recording, steps: read_steps(&output, index)? })
}

fn read_steps(snapshot: &Path, device: i64) -> Result<Vec<Step>, String> {
    let bytes = std::fs::read(snapshot).map_err(|error| error.to_string())?;
    Ok(steps(&decode("the snapshot", &bytes, 1 << 20), device))
}

/// Compares two recordings, the real one first.
pub fn compare(real: &Side, other: &Side) -> Comparison {
    let figures = |side: &Side| (side.recording.peak_allocated_bytes, side.recording.peak_reserved_bytes);
    let ((allocated, reserved), (other_allocated, other_reserved)) = (figures(real), figures(other));
    Comparison {
        allocated_bytes: (allocated, other_allocated),
        reserved_bytes: (reserved, other_reserved),
        agreement: Agreement::of(&real.steps, &other.steps),
    }
}

/// Runs a job on the GPU with index 0 and on the corresponding virtual card.
pub fn compare_with_virtual(config: &RecorderConfig, job: &Job, gpu: &RealGpu) -> Result<Comparison, String> {
    let real = record(config, job, Device::Cuda(0))?;
    let started = real.recording.started.as_ref().ok_or("the real GPU did not say what it is")?;
    let cards = Cards(vec![gpu.card(started.memory_bytes)?]);
    Ok(compare(&real, &record(config, job, Device::Virtual(cards))?))
}

/// Watcher that ignores all lines.
struct Deaf;

impl Watcher for Deaf {
    fn line(&mut self, _line: &RecorderLine) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_understood_and_its_gpu_has_a_virtual_one() {
        let gpu = RealGpu::parse("NVIDIA H100 80GB HBM3, 9.0\n").unwrap();
        assert_eq!((gpu.name.as_str(), gpu.capability.as_str()), ("NVIDIA H100 80GB HBM3", "9.0"));
        assert_eq!(RealGpu::parse("No devices were found\n"), None);
        let gpu = |name: &str, capability: &str| RealGpu { name: name.into(), capability: capability.into() };
        let h100 = Card::named("h100-80gb").unwrap();
        let same = gpu(&h100.product, "9.0").card(h100.memory_bytes + (90 << 20)).unwrap();
        assert_eq!(same.name, "h100-80gb");
        let half = gpu(&h100.product, "9.0").card(40 << 30).unwrap();
        assert_eq!((half.memory_bytes, half.capability), (40 << 30, h100.capability), "a share of one");
        let unknown = gpu("NVIDIA A10G", "8.6").card(22_500_000_000).unwrap();
        assert_eq!((unknown.memory_bytes, unknown.capability.to_string().as_str()), (22_500_000_000, "8.6"));
        assert!(gpu("Tesla K80", "3.7").card(11 << 30).unwrap_err().contains("3.7"));
    }
}
