//! Lists the kinds of files that people open by mistake: by what each is known, what it is, and what to do.

use super::super::error::{HINT_WRITE, ImportError};
use Mark::{At, Keys, Line, Page, Starts};

/// Kind of file that is no snapshot.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Stable code for programs.
    pub(super) code: &'static str,
    /// One sentence without its full stop that says what the file is.
    pub(super) message: &'static str,
    /// Short sentence that says what to do.
    pub(super) hint: &'static str,
    /// Each of these is enough to know the kind.
    pub(super) marks: &'static [Mark],
}

/// What tells a kind of file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The first bytes; no other text begins with them.
    Starts(&'static [u8]),
    /// Bytes at this offset.
    At(usize, &'static [u8]),
    /// All of these keys in the first dictionary of a document.
    Keys(&'static [&'static str]),
    /// All of these words in a page, in lower case.
    Page(&'static [&'static str]),
    /// All of these words in one line of a text.
    Line(&'static [&'static str]),
}

impl From<&Kind> for ImportError {
    fn from(kind: &Kind) -> Self {
        Self::new(kind.code, kind.message, kind.hint)
    }
}

/// Returns the first kind with a mark that fits.
pub(super) fn by_mark(fits: impl Fn(&Mark) -> bool) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.marks.iter().any(&fits))
}

macro_rules! kinds {
    ($($name:ident = $code:literal, $message:literal, $hint:expr, [$($mark:expr),* $(,)?];)*) => {
        $(
            pub(super) const $name: &Kind =
                &Kind { code: $code, message: $message, hint: $hint, marks: &[$($mark),*] };
        )*

        /// All kinds, in the order in which their marks are tried.
        pub(super) const ALL: &[&Kind] = &[$($name),*];
    };
}

const HINT_SOURCE: &str = "Open the snapshot that it was made from.";

kinds! {
    // Files that stand in for another file or were downloaded in its place.
    GIT_LFS = "git-lfs-pointer", "This is a Git LFS pointer, not the file itself",
        "Run git lfs pull in the repository, then open the file again.",
        [Starts(b"version https://git-lfs.github.com/spec/")];
    EMPTY = "empty-file", "The file is empty",
        "Copy it again, or check that the training process kept running until the dump was complete.", [];
    DOWNLOAD_ERROR = "download-error", "This is the error message of a failed download, not the file",
        "Check the address and your access to it, then download the file again.",
        [
            Starts(b"404: "), Starts(b"404 page not found"), Starts(b"Not Found"), Starts(b"Entry not found"),
            Starts(b"Access to "), Keys(&["message", "documentation_url"]), Page(&["<error>", "<code>"]),
            Page(&["<title>404"]),
        ];
    // Other files that PyTorch writes, and their parts.
    OLD_TRACE_PLOT = "old-trace-plot",
        "This page is from an early trace_plot (2022) and contains only the plot, not the snapshot",
        "Open the pickle that the page was made from.",
        [Page(&["let alloc_data ="]), Page(&["import * as d3", "segment_alloc"]), Page(&["import * as d3", "plot_data"])];
    MEMORY_VIZ = "memory-viz-page", "This is PyTorch's memory_viz page without a snapshot",
        "Open the pickle that you opened in that page.", [Page(&["memoryviz.js"]), Page(&["add_local_files"])];
    TIMELINE = "memory-timeline", "This is a memory timeline of torch.profiler, which PyTorch has deprecated",
        "Record a snapshot in its place: torch.cuda.memory._record_memory_history() before the training, and \
         _dump_snapshot(\"snapshot.pickle\") after it.", [Page(&["<title>gpu memory timeline html"])];
    OWN_REPORT = "snapscope-report", "This is a report that Snapscope made from a snapshot", HINT_SOURCE,
        [
            Page(&["gpu memory report</title>"]), Keys(&["unique_stacks", "devices"]), Keys(&["findings", "growth"]),
        ];
    ALLOCATION_TABLE = "allocation-table", "This is a table of allocations that another tool made from a snapshot",
        HINT_SOURCE, [Keys(&["timesteps", "offsets"]), Keys(&["allocations_over_time", "elements"])];
    PART = "part-of-a-snapshot", "This is only part of a snapshot",
        "Open the whole file that torch.cuda.memory._dump_snapshot wrote.",
        [Keys(&["action", "addr"]), Keys(&["address", "total_size"]), Keys(&["filename", "line", "name"])];
    TORCH_SAVE = "snapshot-in-a-checkpoint", "This snapshot was written by torch.save, as a checkpoint",
        "Write it as a plain pickle: pickle.dump(torch.load(\"FILE\"), open(\"snapshot.pickle\", \"wb\")).", [];
    CHECKPOINT = "checkpoint", "This is a checkpoint: weights, not a memory snapshot", HINT_WRITE,
        [Starts(b"GGUF"), Starts(b"\x89HDF\r\n"), Keys(&["weight_map"])];
    // Files of other tools.
    TRACE = "profiler-trace", "This is a profiler trace, not a memory snapshot",
        "Open it in ui.perfetto.dev. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").",
        [Keys(&["traceEvents"]), Keys(&["ph", "name"])];
    PROFILE = "other-profile", "This is another tool's profile, not a memory snapshot",
        "Open it in that tool, such as memray, speedscope.app or Nsight Systems.",
        [Starts(b"memray\0"), Keys(&["shared", "profiles"]), Starts(b"NVR\0")];
    HOST_TOOL = "other-host-log", "This is output of smem, pmap, pidstat, sar or vmstat, which is not read",
        "Print ps aux or free in a loop, or run snapscope host beside the training.",
        [
            Line(&["Swap", "USS", "PSS"]), Line(&["Kbytes", "RSS", "Dirty"]), Line(&["minflt/s", "majflt/s", "RSS"]),
            Line(&["kbmemfree", "kbmemused"]), Line(&["swpd", "free", "buff", "cache"]),
        ];
    RAY = "other-host-log", "This is Ray's table of processes, which is not read",
        "Open the whole message of Ray, or run snapscope host beside the training.", [Line(&["MEM(GB)", "COMMAND"])];
    TENSORBOARD = "other-host-log", "This is a scalar of TensorBoard, which names neither its metric nor a unit",
        "Run snapscope host beside the training, or export the system metrics of Weights & Biases.",
        [Line(&["Wall time,Step,Value"])];
    CARD_TOOL = "other-nvidia-smi", "This is output of nvidia-smi dmon or pmon, which is not read",
        "Print nvidia-smi --query-gpu=timestamp,index,memory.used,memory.total --format=csv -l 1.",
        [Line(&["# gpu", "mclk"]), Line(&["# gpu", "type", "command"]), Line(&["# gpu", "fb"]), Line(&["gpu", "pid", "type", "fb"])];
    NOTEBOOK = "notebook", "This is a Jupyter notebook, not a memory snapshot",
        "Call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") in it, run it, and open the snapshot.",
        [Keys(&["cells", "nbformat"])];
    ARCHIVE = "archive", "This is an archive", "Unpack it, then open the snapshot in it.",
        [Starts(b"PK\x03\x04"), Starts(b"7z\xbc\xaf\x27\x1c"), At(257, b"ustar")];
    COMPRESSED = "compressed", "This file is compressed, and not with gzip",
        "Decompress it (zstd -d, unxz, bunzip2 or lz4 -d; joblib.load if joblib wrote it), then open it.",
        [
            Starts(b"\x28\xb5\x2f\xfd"), Starts(b"\xfd7zXZ\0"), Starts(b"\x04\x22\x4d\x18"), At(4, b"1AY&SY"),
            Starts(b"x\x01"), Starts(b"x\x5e"), Starts(b"x\x9c"), Starts(b"x\xda"),
        ];
    PICTURE = "picture", "This is a picture, not a memory snapshot", "Open the snapshot that the picture shows.",
        [Starts(b"\x89PNG"), Starts(b"\xff\xd8\xff")];
    WEB_PAGE = "web-page", "This is a web page about the file or a sign-in page, not the file itself",
        "Choose “Download raw file” or “Download” on that page, where you are signed in, then open the downloaded file.",
        [
            Page(&["github.githubassets.com"]), Page(&["huggingface.co/front"]), Page(&["<title>google drive"]),
            Page(&["type=\"password\""]), Page(&["<title>sign in"]),
        ];
    // Texts, which rules beside this table tell.
    CONFIG = "training-config", "This is a training config, not a memory snapshot",
        "To record a snapshot of that training, open the config in Jobs or run snapscope repro with it.", [];
    TRAINING_ARGUMENTS = "training-arguments", "These are training arguments, not a memory snapshot",
        "Open them in Jobs together with the config.json of the model.", [];
    SCRIPT = "python-script", "This is a Python script, not a memory snapshot",
        "Call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") at its end, run it, and open the snapshot.", [];
    TEXT = "text", "This is a text file, not a memory snapshot", HINT_WRITE, [];
}
