//! Resolves the data of a training, and checks that the sizes fit the model and that the options fit each other.

use super::super::data::{Data, NORMALIZATIONS, Normalize, SPREADS, Spread, SpreadKind};
use super::super::mistake::Mistake;
use super::super::model::Model;
use super::super::raw::RawData;
use super::super::recurrent::CarryHidden;
use super::super::training::Job;
use super::Resolver;
use crate::base::format;

/// Least height and width of images in pixels, because residual networks halve them five times.
const SMALLEST_IMAGE: u64 = 32;

impl Resolver {
    /// Returns the data of a training; every option is off by default.
    pub(super) fn data(&mut self, raw: Option<&RawData>, model: Option<&Model>) -> Data {
        let standard = Data::default();
        let Some(raw) = raw else { return standard };
        let shortest = if matches!(model, Some(Model::ResNet(_))) { SMALLEST_IMAGE } else { 1 };
        Data {
            lengths: self.spread(["data.lengths", "data.shortest"], raw.lengths.as_deref(), raw.shortest, shortest),
            batches: self.spread(["data.batches", "data.smallest"], raw.batches.as_deref(), raw.smallest, 1),
            seed: self.whole("data.seed", raw.seed, standard.seed),
            longest_first: raw.longest_first.unwrap_or(standard.longest_first),
            pad_to_multiple_of: self.whole("data.pad_to_multiple_of", raw.pad_to_multiple_of, 1),
            samples: raw.samples.map(|samples| self.whole("data.samples", Some(samples), 1)),
            drop_last: raw.drop_last.unwrap_or(standard.drop_last),
            prefetch: self.whole("data.prefetch", raw.prefetch, standard.prefetch),
            pin_memory: raw.pin_memory.unwrap_or(standard.pin_memory),
            reuse_buffer: raw.reuse_buffer.unwrap_or(standard.reuse_buffer),
            normalize: self.choice("data.normalize", raw.normalize.as_deref(), standard.normalize, NORMALIZATIONS),
        }
    }

    fn spread(&mut self, [path, least_path]: [&str; 2], kind: Option<&str>, least: Option<u64>, usual: u64) -> Spread {
        let kind = self.choice(path, kind, SpreadKind::Fixed, SPREADS);
        if kind == SpreadKind::Fixed && least.is_some() {
            let hint = format!("write `{} = \"uniform\"`, or remove it", key(path));
            self.problem(least_path, format!("this has no effect if {} are fixed", key(path)), hint);
        }
        Spread::of(kind, self.whole(least_path, least, usual))
    }

    /// Checks that the data fit the rest of the job.
    pub(super) fn check_data(&mut self, job: &Job) {
        self.check_lengths(job);
        self.check_batches(job);
        self.check_transfer(job);
    }

    fn check_lengths(&mut self, job: &Job) {
        let Data { lengths, batches, longest_first, pad_to_multiple_of, .. } = job.data;
        let has_lengths = job.model.max_positions().is_some() || matches!(job.model, Model::ResNet(_));
        if lengths != Spread::Fixed && !has_lengths {
            let hint = "remove it, or train a language model or a residual network";
            self.problem("data.lengths", "all samples of this model have the same size", hint);
        } else if let Some(least) = lengths.parts().1.filter(|least| *least > job.longest()) {
            let message = format!(
                "{} exceeds the longest samples, which have {}",
                format::count(least),
                format::count(job.longest())
            );
            self.problem(
                "data.shortest",
                message,
                "write a smaller number, or a larger `sequence` or `model.image_size`",
            );
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
        let Data { batches, samples, drop_last, .. } = job.data;
        if let Some(least) = batches.parts().1.filter(|least| *least > job.batch) {
            let message = format!(
                "{} exceeds the largest batches, which have {}",
                format::count(least),
                format::count(job.batch)
            );
            self.problem("data.smallest", message, "write a smaller number, or a larger `batch`");
        }
        match samples {
            None if drop_last => {
                self.problem("data.drop_last", "the data never ends", "also write `samples`, or remove it");
            }
            Some(samples) if drop_last && samples < job.batch => {
                self.problem(
                    "data.drop_last",
                    "no batches would be left",
                    "write more `samples`, or a smaller `batch`",
                );
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
        if reuse_buffer && job.mistakes.contains(&Mistake::KeepBatches) {
            let message = "`keep_batches` would keep only the buffer, which is never freed";
            self.problem("data.reuse_buffer", message, "remove one of them");
        }
        let reads_images = matches!(job.model, Model::ResNet(_) | Model::Vit(_));
        if normalize != Normalize::OnHost && !reads_images {
            self.problem("data.normalize", "this model reads no images", "remove it");
        }
    }
}

/// Returns a key without its table.
fn key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Data, Normalize, Spread};

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
            lengths: Spread::Uniform { least: 64 },
            batches: Spread::LongTailed { least: 2 },
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
        check(
            "model = 'resnet50'\nbatch = 8\n[data]\nlengths = 'uniform'\nshortest = 64\nbatches = 'long-tailed'\nsmallest = 2\n\
             seed = 7\nlongest_first = true\npad_to_multiple_of = 32\nsamples = 100\ndrop_last = true\nprefetch = 2\n\
             pin_memory = true\nnormalize = 'in-place'",
            data,
        );
        check("model = 'mlp'\ndata = { reuse_buffer = true }", Data { reuse_buffer: true, ..Data::default() });
        let lengths = Spread::LongTailed { least: 32 };
        check("model = 'resnet18'\ndata = { lengths = 'long-tailed' }", Data { lengths, ..Data::default() });
    }

    #[test]
    fn lengths_have_to_fit_the_model() {
        check_problem(
            "model = 'vit-b-16'\ndata = { lengths = 'uniform' }",
            "data.lengths: all samples of this model have the same size; remove it, or train a language model or a \
             residual network",
        );
        check_problem(
            "model = 'gpt2'\nsequence = 100\ndata = { lengths = 'uniform', shortest = 101 }",
            "data.shortest: 101 exceeds the longest samples, which have 100; write a smaller number, or a larger \
             `sequence` or `model.image_size`",
        );
        check_problem(
            "model = 'gpt2'\ndata = { shortest = 8 }",
            "data.shortest: this has no effect if lengths are fixed; write `lengths = \"uniform\"`, or remove it",
        );
        check_problem(
            "model = 'gpt2'\ndata = { pad_to_multiple_of = 8 }",
            "data.pad_to_multiple_of: this has no effect if lengths are fixed; for example, write \
             `lengths = \"uniform\"`, or remove it",
        );
        check_problem(
            "model = 'gpt2'\ndata = { longest_first = true }",
            "data.longest_first: this has no effect if all batches have one size; for example, write \
             `lengths = \"uniform\"`, or remove it",
        );
    }

    #[test]
    fn batches_have_to_be_some() {
        check_problem(
            "model = 'mlp'\nbatch = 4\ndata = { batches = 'uniform', smallest = 5 }",
            "data.smallest: 5 exceeds the largest batches, which have 4; write a smaller number, or a larger `batch`",
        );
        check_problem(
            "model = 'mlp'\ndata = { drop_last = true }",
            "data.drop_last: the data never ends; also write `samples`, or remove it",
        );
        check_problem(
            "model = 'mlp'\nbatch = 4\ndata = { samples = 3, drop_last = true }",
            "data.drop_last: no batches would be left; write more `samples`, or a smaller `batch`",
        );
        check_problem(
            "model = 'lstm-medium'\nbatch = 4\ndata = { samples = 6 }",
            "data: a carried hidden state needs the same number of samples in each batch; write \
             `carry_hidden = \"none\"` below `[model]`, or use batches of one size",
        );
    }

    #[test]
    fn outputs_are_collected_where_there_are_some() {
        let table = "model = 'gpt2'\nmistakes = ['allocate_in_loop']\n";
        check_problem(
            &format!("{table}loss = {{ chunks = 8 }}"),
            "mistakes: `allocate_in_loop`: a chunked loss produces no logits; remove `loss`",
        );
        check_problem(
            &format!("{table}card = '2x t4-16gb'\nparallel = {{}}"),
            "mistakes: `allocate_in_loop`: not supported on several devices; remove `parallel`",
        );
    }

    #[test]
    fn ways_to_the_device_go_together() {
        check_problem(
            "model = 'mlp'\ndata = { prefetch = 1, reuse_buffer = true }",
            "data.reuse_buffer: prefetched batches need their own tensors; remove `prefetch` or `reuse_buffer`",
        );
        check_problem(
            "model = 'mlp'\nmistakes = ['keep_batches']\ndata = { reuse_buffer = true }",
            "data.reuse_buffer: `keep_batches` would keep only the buffer, which is never freed; remove one of them",
        );
        check_problem(
            "model = 'mlp'\ndata = { normalize = 'in-place' }",
            "data.normalize: this model reads no images; remove it",
        );
    }
}
