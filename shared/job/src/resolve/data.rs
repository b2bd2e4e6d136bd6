//! Resolves the data of a training, and checks that the sizes fit the model and that the options fit each other.

use super::super::data::{Data, Normalize, Spread};
use super::super::domain::{Names, Whole};
use super::super::model::{CarryHidden, Model};
use super::super::raw::{DATA, JOB, Key, RawData, RawJob, Table};
use super::{Job, Resolver};
use foundation::base::format;

/// Least height and width of images in pixels, because residual networks halve them five times.
const SMALLEST_IMAGE: u64 = 32;

impl Resolver {
    /// Returns the data of a training; every option is off by default.
    pub(super) fn data(&mut self, job: &mut Table<'_, RawJob>, model: Option<&Model>) -> Data {
        let standard = Data::default();
        let given = job.given(&JOB.data).cloned().unwrap_or_default();
        let raw = &mut Table::new(&given);
        let shortest = if matches!(model, Some(Model::ResNet(_))) { SMALLEST_IMAGE } else { 1 };
        let (lengths, shortest) = self.spread(raw, &DATA.lengths, (&DATA.shortest, shortest));
        let (batches, smallest) = self.spread(raw, &DATA.batches, (&DATA.smallest, 1));
        let data = Data {
            lengths,
            shortest,
            batches,
            smallest,
            seed: self.number(raw, &DATA.seed, standard.seed),
            longest_first: raw.flag(&DATA.longest_first, standard.longest_first),
            pad_to_multiple_of: self.number(raw, &DATA.pad_to_multiple_of, standard.pad_to_multiple_of),
            samples: self.optional(raw, &DATA.samples),
            drop_last: raw.flag(&DATA.drop_last, standard.drop_last),
            prefetch: self.number(raw, &DATA.prefetch, standard.prefetch),
            pin_memory: raw.flag(&DATA.pin_memory, standard.pin_memory),
            reuse_buffer: raw.flag(&DATA.reuse_buffer, standard.reuse_buffer),
            normalize: self.word(raw, &DATA.normalize, standard.normalize),
        };
        job.settle(&JOB.data, std::mem::take(&mut raw.settled));
        data
    }

    /// Returns a distribution of sizes: its kind and its minimum, each with a key.
    fn spread(
        &mut self,
        raw: &mut Table<'_, RawData>,
        key: &Key<RawData, String, Names<Spread>>,
        (least, usual): (&Key<RawData, u64, Whole>, u64),
    ) -> (Spread, u64) {
        let spread = self.word(raw, key, Spread::Fixed);
        if spread != Spread::Fixed {
            return (spread, self.number(raw, least, usual));
        }
        let given = raw.given(least).copied();
        if given.is_some() {
            let hint = format!("write `{} = \"uniform\"`, or remove it", key.name);
            self.problem(least.path, format!("this has no effect if {} are fixed", key.name), hint);
        }
        self.number_within(least, given, usual);
        (spread, 1)
    }

    /// Checks that the data fit the rest of the job.
    pub(super) fn check_data(&mut self, job: &Job) {
        self.check_lengths(job);
        self.check_batches(job);
        self.check_transfer(job);
    }

    fn check_lengths(&mut self, job: &Job) {
        let Data { lengths, shortest, batches, longest_first, pad_to_multiple_of, .. } = job.data;
        let has_lengths = job.model.max_positions().is_some() || matches!(job.model, Model::ResNet(_));
        if lengths != Spread::Fixed && !has_lengths {
            let hint = "remove it, or train a language model or a residual network";
            self.problem("data.lengths", "all samples of this model have the same size", hint);
        } else if lengths != Spread::Fixed && shortest > job.longest() {
            let [shortest, longest] = [shortest, job.longest()].map(format::count);
            let message = format!("{shortest} exceeds the longest samples, which have {longest}");
            let hint = "write a smaller number, or a larger `sequence` or `model.image_size`";
            self.problem("data.shortest", message, hint);
        }
        if lengths == Spread::Fixed && pad_to_multiple_of > 1 {
            let hint = "for example, write `lengths = \"uniform\"`, or remove it";
            self.problem("data.pad_to_multiple_of", "this has no effect if lengths are fixed", hint);
        }
        if lengths == Spread::Fixed && batches == Spread::Fixed && longest_first {
            let hint = "for example, write `lengths = \"uniform\"`, or remove it";
            self.problem("data.longest_first", "this has no effect if all batches have one size", hint);
        }
    }

    fn check_batches(&mut self, job: &Job) {
        let Data { batches, smallest, samples, drop_last, .. } = job.data;
        if batches != Spread::Fixed && smallest > job.batch {
            let [smallest, largest] = [smallest, job.batch].map(format::count);
            let message = format!("{smallest} exceeds the largest batches, which have {largest}");
            self.problem("data.smallest", message, "write a smaller number, or a larger `batch`");
        }
        match samples {
            None if drop_last => {
                self.problem("data.drop_last", "the data never ends", "also write `samples`, or remove it");
            }
            Some(samples) if drop_last && samples < job.batch => {
                let hint = "write more `samples`, or a smaller `batch`";
                self.problem("data.drop_last", "no batches would be left", hint);
            }
            _ => {}
        }
        let has_partial = samples.is_some_and(|samples| samples % job.batch != 0) && !drop_last;
        let carries = matches!(&job.model, Model::Rnn(rnn) if rnn.carry_hidden == CarryHidden::Detach);
        if carries && (batches != Spread::Fixed || has_partial) {
            let hint = "write `carry_hidden = \"none\"` below `[model]`, or use batches of one size";
            self.problem("data", "a carried hidden state needs the same number of samples in each batch", hint);
        }
    }

    fn check_transfer(&mut self, job: &Job) {
        let Data { prefetch, reuse_buffer, normalize, .. } = job.data;
        if reuse_buffer && prefetch > 0 {
            let message = "prefetched batches need their own tensors";
            self.problem("data.reuse_buffer", message, "remove `prefetch` or `reuse_buffer`");
        }
        let reads_images = matches!(job.model, Model::ResNet(_));
        if normalize != Normalize::OnHost && !reads_images {
            self.problem("data.normalize", "this model reads no images", "remove it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use crate::{Data, Normalize, Spread};

    #[track_caller]
    fn check(text: &str, data: Data) {
        let job = job(text);
        assert_eq!(job.data, data);
    }

    #[test]
    fn everything_is_off_unless_said() {
        check("model = 'gpt2'", Data::default());
        check("model = 'gpt2'\ndata = {}", Data::default());
    }

    #[test]
    fn every_key_is_read() {
        let data = Data {
            lengths: Spread::Uniform,
            shortest: 64,
            batches: Spread::LongTailed,
            smallest: 2,
            seed: 7,
            longest_first: true,
            pad_to_multiple_of: 32,
            samples: Some(100),
            drop_last: true,
            prefetch: 2,
            pin_memory: true,
            reuse_buffer: false,
            normalize: Normalize::InPlace,
        };
        let text = "model = 'resnet50'\nbatch = 8\n[data]\nlengths = 'uniform'\nshortest = 64\nbatches = 'long-tailed'\n\
                    smallest = 2\nseed = 7\nlongest_first = true\npad_to_multiple_of = 32\nsamples = 100\n\
                    drop_last = true\nprefetch = 2\npin_memory = true\nnormalize = 'in-place'";
        check(text, data);
        check("model = 'mlp'\ndata = { reuse_buffer = true }", Data { reuse_buffer: true, ..Data::default() });
        let lengths = Data { lengths: Spread::LongTailed, shortest: 32, ..Data::default() };
        check("model = 'resnet18'\ndata = { lengths = 'long-tailed' }", lengths);
    }
}
