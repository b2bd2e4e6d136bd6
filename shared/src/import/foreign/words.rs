//! Texts for each kind of file that people open by mistake: what it is, and what to do.

use super::super::error::{HINT_WRITE, ImportError};

/// Kind of file that is no snapshot.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Stable code for programs.
    pub(super) code: &'static str,
    /// One sentence without its full stop that says what the file is.
    pub(super) message: &'static str,
    /// Short sentence that says what to do.
    pub(super) hint: &'static str,
}

impl From<&Kind> for ImportError {
    fn from(kind: &Kind) -> Self {
        Self::new(kind.code, kind.message, kind.hint)
    }
}

macro_rules! kinds {
    ($($name:ident = $code:literal, $message:literal, $hint:expr;)*) => {
        $(pub(super) const $name: Kind = Kind { code: $code, message: $message, hint: $hint };)*

        /// All kinds, for the tests of the texts.
        #[cfg(test)]
        pub(super) const ALL: &[Kind] = &[$($name),*];
    };
}

/// Advice to record a snapshot of an out-of-memory error.
const HINT_DIAGNOSE: &str = "Open it in the page or run snapscope diagnose on it: both report what it shows.";
const HINT_SOURCE: &str = "Open the snapshot that it was made from.";
const HINT_WHOLE: &str = "Open the whole file that torch.cuda.memory._dump_snapshot wrote.";
const HINT_UNPACK: &str = "Unpack it, then open the snapshot in it.";

kinds! {
    // Files that stand in for another file or were downloaded in its place.
    GIT_LFS = "git-lfs-pointer", "This is a Git LFS pointer, not the file itself",
        "Run git lfs pull in the repository, then open the file again.";
    GIT_ANNEX = "git-annex-pointer", "This is a git-annex pointer, not the file itself",
        "Run git annex get in the repository, then open the file again.";
    DVC = "dvc-pointer", "This is a DVC pointer, not the file itself",
        "Run dvc pull in the repository, then open the file itself.";
    EMPTY = "empty-file", "The file is empty",
        "Copy it again, or check that the training process kept running until the dump was complete.";
    DOWNLOAD_ERROR = "download-error", "This is the error message of a failed download, not the file",
        "Check the address and your access to it, then download the file again.";
    GITHUB_PAGE = "web-page", "This is GitHub's web page for the file, not the file itself",
        "Choose “Download raw file” on that page, then open the downloaded file.";
    GITLAB_PAGE = "web-page", "This is GitLab's web page for the file, not the file itself",
        "Choose “Download” on that page, then open the downloaded file.";
    HUGGING_FACE_PAGE = "web-page", "This is Hugging Face's web page for the file, not the file itself",
        "Choose “Download file” on that page, then open the downloaded file.";
    DRIVE_PAGE = "web-page", "This is a Google Drive web page, not the file itself",
        "Download the file in a browser, where you can answer Google Drive's prompt.";
    SIGN_IN_PAGE = "web-page", "This is a sign-in page, not the file itself",
        "Download the file in a browser where you are signed in.";

    // Other files that PyTorch writes.
    TORCH_TRACE = "profiler-trace", "This is a torch.profiler trace, not a memory snapshot",
        "Open it in ui.perfetto.dev. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
    CHROME_TRACE = "profiler-trace", "This is a profiler trace, not a memory snapshot",
        "Open it in ui.perfetto.dev. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
    TIMELINE_PAGE = "memory-timeline", "This is a Memory Timeline of torch.profiler: a picture, not a memory snapshot",
        HINT_WRITE;
    TIMELINE_DATA = "memory-timeline",
        "This is data of torch.profiler's Memory Timeline, which has no stacks, not a memory snapshot", HINT_WRITE;
    OLD_TRACE_PLOT = "old-trace-plot",
        "This page is from an early trace_plot (2022) and contains only the plot, not the snapshot",
        "Open the pickle that the page was made from.";
    MEMORY_VIZ = "memory-viz-page", "This is PyTorch's memory_viz page without a snapshot",
        "Open the pickle that you opened in that page.";
    MEMORY_STATS = "memory-stats", "These are counters from torch.cuda.memory_stats, not a memory snapshot", HINT_DIAGNOSE;
    MEMORY_SUMMARY = "memory-stats", "This is a table from torch.cuda.memory_summary, not a memory snapshot",
        HINT_DIAGNOSE;
    CHECKPOINT = "checkpoint", "This is a PyTorch checkpoint: weights, not a memory snapshot", HINT_WRITE;
    TORCH_SAVE = "snapshot-in-a-checkpoint", "This snapshot was written by torch.save, inside a checkpoint archive",
        "Write it as a plain pickle: pickle.dump(torch.load(\"FILE\"), open(\"snapshot.pickle\", \"wb\")).";
    PART = "part-of-a-snapshot", "This is only part of a snapshot", HINT_WHOLE;

    // Files of other tools.
    ALLOCATION_TABLE = "allocation-table", "This is a table of allocations that another tool made from a snapshot",
        HINT_SOURCE;
    OWN_REPORT = "snapscope-report", "This is a report that Snapscope made from a snapshot", HINT_SOURCE;
    SPEEDSCOPE = "other-profile", "This is a profile for speedscope.app, not a memory snapshot",
        "Open it in speedscope.app; Snapscope opens the snapshot itself.";
    FIREFOX_PROFILE = "other-profile", "This is a profile for profiler.firefox.com, not a memory snapshot",
        "Open it in profiler.firefox.com.";
    MEMRAY = "other-profile", "This is a memray recording, which covers Python's memory on the host",
        HINT_DIAGNOSE;
    MEMORY_PROFILE = "memory-profile", "This is a memory profile, not a GPU memory snapshot", HINT_DIAGNOSE;
    PERFETTO = "profiler-trace", "This is a Perfetto trace, not a memory snapshot",
        "Open it in ui.perfetto.dev. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
    NSIGHT_SYSTEMS = "nsight-report", "This is an Nsight Systems report, not a memory snapshot",
        "Open it in Nsight Systems. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
    NSIGHT_COMPUTE = "nsight-report", "This is an Nsight Compute report, not a memory snapshot",
        "Open it in Nsight Compute. To write a snapshot, call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").";
    NVIDIA_SMI = "nvidia-smi", "This is nvidia-smi output, not a memory snapshot", HINT_WRITE;
    TENSORBOARD = "tensorboard-log", "This is a TensorBoard event file, not a memory snapshot", HINT_WRITE;
    DATABASE = "database", "This is an SQLite database, not a memory snapshot", HINT_WRITE;

    // Files that belong to a training.
    CONFIG = "training-config", "This is a training config, not a memory snapshot",
        "To record a snapshot of that training, open the config in Jobs or run snapscope repro with it.";
    TRAINING_ARGUMENTS = "training-arguments", "These are training arguments, not a memory snapshot",
        "Open them in Jobs together with the config.json of the model.";
    OTHER_CONFIG = "settings-file", "This is a settings file, not a memory snapshot", HINT_WRITE;
    TOKENIZER = "tokenizer", "This is a tokenizer, not a memory snapshot", HINT_WRITE;
    WEIGHT_INDEX = "checkpoint", "This is the index of a checkpoint, not a memory snapshot", HINT_WRITE;
    TRAINER_STATE = "trainer-state", "This is a Trainer log (trainer_state.json), not a memory snapshot",
        HINT_WRITE;
    SAFETENSORS = "checkpoint", "This is a safetensors checkpoint: weights, not a memory snapshot", HINT_WRITE;
    GGUF = "checkpoint", "This is a GGUF model: weights, not a memory snapshot", HINT_WRITE;
    HDF5 = "data-file", "This is an HDF5 file: weights or data, not a memory snapshot", HINT_WRITE;
    NUMPY = "data-file", "This is a NumPy array, not a memory snapshot", HINT_WRITE;
    TABLE_FILE = "data-file", "This is a Parquet or Arrow table, not a memory snapshot", HINT_WRITE;
    OOM_LOG = "out-of-memory-log", "This is a log with an out-of-memory error, not a memory snapshot", HINT_DIAGNOSE;
    HOST_LOG = "host-memory-log", "This is a log of memory, not a GPU memory snapshot", HINT_DIAGNOSE;
    PS_WITHOUT_MEMORY = "processes-without-memory", "This is a log of processes without their memory",
        "Print the memory, too: ps aux in place of ps -ef, or ps -eo pid,ppid,rss,args with its first line.";
    LOG = "log", "This is a log, not a memory snapshot", HINT_WRITE;
    SCRIPT = "python-script", "This is a Python script, not a memory snapshot",
        "Call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") at its end, run it, and open the snapshot.";
    NOTEBOOK = "notebook", "This is a Jupyter notebook, not a memory snapshot",
        "Call torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") in it, run it, and open the snapshot.";
    CSV = "text-table", "This is a table in a text file, not a memory snapshot", HINT_WRITE;
    TEXT = "text", "This is a text file, not a memory snapshot", HINT_WRITE;

    // Files that have to be unpacked first, and pictures.
    ZIP = "archive", "This is a zip archive", HINT_UNPACK;
    TAR = "archive", "This is a tar archive", HINT_UNPACK;
    SEVEN_ZIP = "archive", "This is a 7-Zip archive", HINT_UNPACK;
    RAR = "archive", "This is a RAR archive", HINT_UNPACK;
    ZSTD = "compressed", "This file is compressed with Zstandard", "Decompress it with zstd -d, then open it.";
    BZIP2 = "compressed", "This file is compressed with bzip2", "Decompress it with bunzip2, then open it.";
    XZ = "compressed", "This file is compressed with xz", "Decompress it with unxz, then open it.";
    LZ4 = "compressed", "This file is compressed with lz4", "Decompress it with lz4 -d, then open it.";
    ZLIB = "compressed", "This file is compressed with zlib",
        "Decompress it with Python's zlib.decompress, or joblib.load if joblib wrote it, then open it.";
    OFFICE = "document", "This is an office document, not a memory snapshot", HINT_WRITE;
    PDF = "document", "This is a PDF document, not a memory snapshot", HINT_WRITE;
    PICTURE = "picture", "This is a picture, not a memory snapshot", "Open the snapshot that the picture shows.";
    VIDEO = "picture", "This is a video, not a memory snapshot", "Open the snapshot that the video shows.";
    PROGRAM = "program", "This is a compiled program or library, not a memory snapshot", HINT_WRITE;
    CHART_PAGE = "chart-page", "This is a page with a chart, not a memory snapshot", HINT_SOURCE;
    XML = "text", "This is an XML file, not a memory snapshot", HINT_WRITE;
}
