//! Checks `PYTORCH_CUDA_ALLOC_CONF` for unknown options, missing values, and a backend whose work can't be recorded.

use super::super::nearest::did_you_mean;
use super::super::problem::excerpt;
use super::super::raw::{JOB, RawJob};
use super::Resolver;
use super::table::Table;

/// Options of PyTorch 2.11's caching allocator.
const OPTIONS: &[&str] = &[
    "expandable_segments",
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "garbage_collection_threshold",
    "roundup_power2_divisions",
    "large_segment_size_mb",
    "per_process_memory_fraction",
    "graph_capture_record_stream_reuse",
    "release_lock_on_cudamalloc",
    "pinned_use_cuda_host_register",
    "pinned_num_register_threads",
    "pinned_reserve_segment_size_mb",
    "pinned_use_background_threads",
    "backend",
];

impl Resolver {
    pub(super) fn allocator(&mut self, raw: &mut Table<'_, RawJob>) -> String {
        let text = raw.given(&JOB.allocator).map_or("", String::as_str);
        if self.is_one_line("allocator", text) {
            for option in options(text) {
                self.option(option);
            }
        }
        raw.settle(&JOB.allocator, text.trim().to_owned());
        text.trim().to_owned()
    }

    fn option(&mut self, option: &str) {
        let (key, value) = option.split_once(':').map_or((option, ""), |(key, value)| (key.trim(), value.trim()));
        if !OPTIONS.contains(&key) {
            let hint = did_you_mean(key, OPTIONS.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("the options are {}", OPTIONS.join(", ")));
            self.problem("allocator", format!("the allocator has no option `{}`", excerpt(key)), hint);
        } else if value.is_empty() {
            self.problem("allocator", format!("`{key}` has no value"), format!("write `{key}:value`"));
        } else if key == "backend" && value != "native" {
            let hint = "remove `backend`";
            self.problem("allocator", "only PyTorch's native backend records its memory", hint);
        } else if key == "expandable_segments" && !["True", "False"].contains(&value) {
            let message = format!("`expandable_segments` must be `True` or `False`, not `{}`", excerpt(value));
            self.problem("allocator", message, "start it with a capital letter");
        }
    }
}

/// Splits a text into its options; commas inside brackets do not end one.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let pieces = text.split(move |c| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        c == ',' && depth <= 0
    });
    pieces.map(str::trim).filter(|option| !option.is_empty())
}
