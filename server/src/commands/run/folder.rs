//! Makes the private folder of a run: the hook for Python, its options, and the pipe that keeps the processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::commands::python;
use crate::folder::make_temporary;

/// The files of the hook, by their names below the folder that goes on `PYTHONPATH`.
const HOOK: &[python::File] = python::files!("run/":
    "snapscope_begin.py",
    "snapscope_run/__init__.py",
    "snapscope_run/start.py",
    "snapscope_run/report.py",
    "snapscope_run/sharing.py",
    "snapscope_run/alone.py",
    "snapscope_run/lines.py",
    "snapscope_run/collectives.py",
    "snapscope_run/history.py",
    "snapscope_run/holding.py",
    "snapscope_run/snapshot.py",
    "snapscope_run/keeper.py",
    "snapscope_run/ending.py",
    "snapscope_run/engines.py",
    "snapscope_run/texts.py",
    "snapscope_run/unsupported.py",
    "snapscope_run/recorder.py",
    "snapscope_run/remedies/__init__.py",
    "snapscope_run/remedies/batches.py",
    "snapscope_run/remedies/blocks.py",
    "snapscope_run/remedies/chunked.py",
    "snapscope_run/remedies/files.py",
    "snapscope_run/remedies/main.py",
    "snapscope_run/remedies/models.py",
    "snapscope_run/remedies/optimizers.py",
    "snapscope_run/remedies/places.py",
    "snapscope_run/remedies/settings.py",
    "snapscope_run/remedies/trimmed.py",
    "snapscope_run/ranks/__init__.py",
    "snapscope_run/ranks/launchers.py",
    "snapscope_run/ranks/objects.py",
    "snapscope_run/ranks/store.py",
    "snapscope_run/values/__init__.py",
    "snapscope_run/values/known.py",
    "snapscope_run/values/patch.py",
    "snapscope_run/values/philox.py",
    "snapscope_run/values/answers.py",
    "snapscope_run/values/carried.py",
    "snapscope_run/values/compiled.py",
    "snapscope_run/values/kernels.py",
    "snapscope_run/values/makers.py",
    "snapscope_run/values/moves.py",
    "snapscope_run/values/reads.py",
    "snapscope_run/values/sent.py",
    "snapscope_run/values/assumptions.py",
    "snapscope_run/weights/__init__.py",
    "snapscope_run/weights/files.py",
    "snapscope_run/weights/host.py",
    "snapscope_run/weights/loads.py",
    "snapscope_run/weights/models.py",
);

/// The folder, which is removed when this value is dropped.
pub(super) struct Folder {
    folder: tempfile::TempDir,
    /// Open end of the pipe: the processes see its end when the run is stopped, or when this process dies.
    pipe: Option<File>,
}

impl Folder {
    /// Makes the folder, which only its owner can read, with the options of the hook.
    pub(super) fn make(options: &serde_json::Value) -> io::Result<Self> {
        let folder = make_temporary("snapscope-run-", None)?;
        let path = folder.path();
        python::write_hook(&path.join("hook"), HOOK, "snapscope_run")?;
        fs::write(path.join("options.json"), options.to_string())?;
        let keep = path.join("keep");
        mknodat(CWD, &keep, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Open for reading too, so that opening does not wait for a reader.
        let pipe = File::options().read(true).write(true).open(&keep)?;
        Ok(Self { folder, pipe: Some(pipe) })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of the hook, which goes on `PYTHONPATH`.
    pub(super) fn hook(&self) -> PathBuf {
        self.path().join("hook")
    }

    /// Returns the file to which the virtual GPU appends its messages.
    pub(super) fn log(&self) -> PathBuf {
        self.path().join("virtual-gpu.log")
    }

    /// Returns true if the script is a server that has started and waits for requests.
    pub(super) fn is_serving(&self) -> bool {
        self.path().join("serving").exists()
    }

    /// Lets the processes write their snapshots, and tells them why.
    pub(super) fn stop(&mut self, reason: &str) {
        // Without the reason, the processes write their snapshots and end, which is right as well.
        let _ = fs::write(self.path().join("stop"), reason);
        self.pipe = None;
    }
}
