//! Keys of a config that the command line overrides.

use super::raw::{JOB, RawJob};

/// Overridden keys; `None` keeps the value of the config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Virtual GPUs, replacing the config's `card` or `device`.
    pub card: Option<String>,
    /// A real GPU, replacing the config's `card` or `device`.
    pub device: Option<String>,
    pub steps: Option<u64>,
    /// Samples of a micro batch.
    pub batch: Option<u64>,
    /// Tokens of a sample.
    pub sequence: Option<u64>,
}

impl Overrides {
    /// Returns the keys whose values in the config are ignored.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let Self { card, device, steps, batch, sequence } = self;
        let place = card.is_some() || device.is_some();
        [
            (JOB.card.name, place),
            (JOB.device.name, place),
            (JOB.steps.name, steps.is_some()),
            (JOB.batch.name, batch.is_some()),
            (JOB.sequence.name, sequence.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_overridden)| is_overridden.then_some(key))
    }

    /// Returns the config with these keys overridden.
    pub fn apply(self, raw: RawJob) -> RawJob {
        let (card, device) = match (self.card, self.device) {
            (None, None) => (raw.card, raw.device),
            overridden => overridden,
        };
        RawJob {
            card,
            device,
            steps: self.steps.or(raw.steps),
            batch: self.batch.or(raw.batch),
            sequence: self.sequence.or(raw.sequence),
            ..raw
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_replaces_a_device() {
        let raw = RawJob { device: Some("cuda:0".to_owned()), batch: Some(4), steps: Some(3), ..RawJob::default() };
        let overrides = Overrides { card: Some("t4-16gb".to_owned()), steps: Some(5), ..Overrides::default() };
        let job = overrides.apply(raw.clone());
        assert_eq!((job.card.as_deref(), job.device, job.steps, job.batch), (Some("t4-16gb"), None, Some(5), Some(4)));
        assert_eq!(Overrides::default().apply(raw.clone()), raw);
    }
}
