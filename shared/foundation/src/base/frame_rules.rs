//! Decides which stack frames are worth showing, and which source files are the user's own code.
//!
//! A stack of a snapshot has two or three frames of the user's program among dozens of frames of the runtime below it:
//! PyTorch's Python and C++, the interpreter, the thread library.
//! The rules go by file and symbol names, because snapshots hold nothing else.

/// File name of operator frames, which our recorder writes; the frame's name is an operation such as `aten::addmm`.
pub const RECORDED_OPERATOR: &str = "operator";

/// Annotation of our recorder, which says that its own hooks are on all modules: hooks are then no sign of the program's.
pub const ALL_HOOKED: &str = "snapscope has hooks on all modules";

/// File name of module frames, which our recorder writes; the frame's name is the module's path and the step's phase.
pub const RECORDED_MODULE: &str = "module";

/// File name of phase frames, which our recorder writes; the frame's name is the step's phase.
pub const RECORDED_PHASE: &str = "phase";

/// Returns true for our recorder's frames, whose file name stands for a kind of frame.
pub fn is_recorded(filename: &str) -> bool {
    matches!(filename, RECORDED_OPERATOR | RECORDED_MODULE | RECORDED_PHASE)
}

/// Returns true if a frame belongs to the runtime below the user's program and its libraries.
///
/// Libraries on top of PyTorch, such as `transformers`, are no part of the runtime: their frames show the layer.
pub fn is_runtime(filename: &str) -> bool {
    if is_native(filename) || filename == RECORDED_OPERATOR {
        return true;
    }
    let path = filename.replace('\\', "/");
    if let Some((_, package)) = path.rsplit_once("-packages/") {
        return RUNTIME_PACKAGES.split(' ').any(|runtime| starts_path(package, runtime));
    }
    is_standard_library(&path) || BOOTSTRAP_FILES.contains(&path.rsplit('/').next().unwrap_or(&path))
}

/// Extracts the operation from a C++ symbol of PyTorch: `aten::bmm`, `BmmBackward0`.
///
/// It serves as a title for stacks without a frame of the user's program, such as those of the autograd engine's
/// thread.
pub fn operation(name: &str) -> Option<String> {
    if let Some(rest) = after(name, "torch::autograd::generated::") {
        let node = identifier(rest);
        if node.contains("Backward") {
            return Some(node.strip_suffix("_apply_functional").unwrap_or(node).to_owned());
        }
    }
    let operator = identifier(after(name, "at::_ops::")?);
    (!operator.is_empty()).then(|| format!("aten::{operator}"))
}

/// Returns true for functions that every call of a module or an optimizer passes, so that the name says nothing.
pub fn is_plumbing(name: &str) -> bool {
    PLUMBING.split(' ').any(|known| known == name)
}

/// Returns the position of the frame of the user's own code that a stack comes from; frames are given innermost first.
///
/// If that code calls a module, backward or an optimizer, it is the frame of the call; otherwise it is the innermost
/// frame of the user's code.
/// Stacks of our recorder have no such frame.
pub fn own_position<'a>(
    frames: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    is_own: impl Fn(usize) -> bool,
) -> Option<usize> {
    // A closure that an optimizer calls is the user's program again; frames outside it are not where the model is
    // called.
    let closure = frames.clone().position(|(name, _)| name == "closure").map_or(usize::MAX, |position| position + 1);
    let entry = frames.clone().enumerate().take(closure).filter(|(_, (_, filename))| is_entry(filename)).last();
    let from = entry.map_or(0, |(position, _)| position + 1);
    let count = frames.count();
    (from..count).chain(0..from).find(|&position| is_own(position))
}

/// Returns the position of the innermost frame of the user's own code; frames are given innermost first.
pub fn innermost_own_position<'a>(mut frames: impl Iterator<Item = (&'a str, &'a str)>) -> Option<usize> {
    frames.position(|(_, filename)| is_own(filename))
}

/// Returns true if the path looks like a file that the user has written.
pub fn is_own(filename: &str) -> bool {
    let is_package = filename.replace('\\', "/").contains("-packages/");
    !is_package && !filename.starts_with('<') && !is_recorded(filename) && !is_runtime(filename)
}

/// Returns true for files through which a program enters a module, backward or an optimizer.
fn is_entry(filename: &str) -> bool {
    let path = filename.replace('\\', "/");
    let of_torch = path.rsplit_once("-packages/torch/").map(|(_, rest)| rest);
    let entries = ["nn/modules/module.py", "_tensor.py", "autograd/__init__.py", "optim/optimizer.py"];
    of_torch.is_some_and(|rest| entries.contains(&rest))
}

/// Functions that every call of a module or an optimizer passes.
const PLUMBING: &str = "_call_impl _wrapped_call_impl __call__ _fn _use_grad decorate_context inner profile_hook_step \
    wrapper";

/// Packages that run the user's program and are no part of it.
const RUNTIME_PACKAGES: &str =
    "torch torch_xla triton functorch numpy IPython ipykernel traitlets tornado debugpy pluggy";

/// Files that start a program, in whichever folder they lie.
const BOOTSTRAP_FILES: [&str; 4] = ["runpy.py", "_bootstrap.py", "_container_entrypoint.py", "<frozen runpy>"];

/// Returns true for compiled code: no file name, an object file, a library, or a source file of compiled code.
pub fn is_native(filename: &str) -> bool {
    const SUFFIXES: [&str; 10] = [".cpp", ".cc", ".c", ".cu", ".h", ".hpp", ".o", ".S", ".pyx", ".asm"];
    let has_suffix = SUFFIXES.iter().any(|suffix| filename.ends_with(suffix));
    let is_library = filename.ends_with(".so") || filename.contains(".so.") || filename.ends_with(".dll");
    let is_compiler_source = filename.starts_with("/rustc/") || filename.contains(".cargo/registry/");
    // Programs in tch name the autograd engine itself as a file.
    filename.is_empty() || filename == "??" || has_suffix || is_library || is_compiler_source || filename == "autograd"
}

/// Returns true for `…/lib/python3.11/threading.py`, `Python311/Lib/…` on Windows, and frozen modules.
///
/// Shared copies of snapshots have the same paths, without the part before `lib` or `Python311`.
fn is_standard_library(path: &str) -> bool {
    if path.starts_with("<frozen ") {
        return true;
    }
    let path = format!("/{path}");
    let unix = path.split_once("/lib/python3").and_then(|(_, rest)| rest.split_once('/'));
    let windows = path.split_once("/Python3").and_then(|(_, rest)| rest.split_once("/Lib/"));
    unix.or(windows).is_some()
}

fn starts_path(path: &str, package: &str) -> bool {
    path.strip_prefix(package).is_some_and(|rest| rest.starts_with('/') || rest.starts_with(".py"))
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark).map(|(_, rest)| rest)
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Rule by which files count as the user's own code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OwnCode {
    /// Files outside installed packages, the standard library and compiled code.
    #[default]
    Automatic,
    /// Paths that contain one of these texts, wherever they are installed.
    Containing(Vec<String>),
    /// Everything outside the runtime, installed packages too, except paths that contain one of these texts.
    Outside(Vec<String>),
}

impl OwnCode {
    /// Reads a rule: texts separated by commas, after `!` those of paths that are not the user's own.
    ///
    /// ```
    /// # use foundation::base::OwnCode;
    /// assert_eq!(OwnCode::of_text(""), OwnCode::Automatic);
    /// assert_eq!(OwnCode::of_text("src/, mymodel").to_string(), "src/,mymodel");
    /// assert!(OwnCode::of_text("!transformers").is_own("/v/site-packages/peft/peft_model.py"));
    /// ```
    pub fn of_text(text: &str) -> Self {
        let texts = |text: &str| -> Vec<String> {
            text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        match text.trim().strip_prefix('!') {
            Some(outside) => Self::Outside(texts(outside)),
            None => match texts(text) {
                texts if texts.is_empty() => Self::Automatic,
                texts => Self::Containing(texts),
            },
        }
    }

    /// Returns true if the file is the user's own code.
    pub fn is_own(&self, filename: &str) -> bool {
        let contains = |texts: &[String]| texts.iter().any(|text| filename.contains(text.as_str()));
        match self {
            Self::Automatic => is_own(filename),
            Self::Containing(texts) => !is_recorded(filename) && contains(texts),
            Self::Outside(texts) => {
                let is_source = !filename.starts_with('<') && !is_recorded(filename);
                is_source && !is_runtime(filename) && !contains(texts)
            }
        }
    }
}

/// Writes the text that [`OwnCode::of_text`] reads.
impl std::fmt::Display for OwnCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Automatic => Ok(()),
            Self::Containing(texts) => f.write_str(&texts.join(",")),
            Self::Outside(texts) => write!(f, "!{}", texts.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_told_from_the_program_and_its_libraries() {
        let runtime = [
            "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
            r"C:\work\.venv\lib\site-packages\torch\nn\functional.py",
            "/usr/lib/python3/dist-packages/torch/optim/adam.py",
            "/home/me/.pyenv/versions/3.12.1/lib/python3.12/threading.py",
            r"C:\Python311\Lib\contextlib.py",
            "lib/python3.12/threading.py",
            "Python311/Lib/contextlib.py",
            "<frozen importlib._bootstrap>",
            "/opt/lib/python3.12/site-packages/ipykernel/kernelbase.py",
            // Compiled code.
            "",
            "??",
            "RegisterCUDA_0.cpp",
            "./nptl/pthread_create.c",
            "../sysdeps/unix/sysv/linux/x86_64/clone3.S",
            "/usr/local/cuda/lib64/libcudart.so.12",
            "/rustc/a1b2/library/std/src/rt.rs",
            ".cargo/registry/tch-0.24.0/src/lib.rs",
            "autograd",
            RECORDED_OPERATOR,
        ];
        runtime.iter().for_each(|filename| assert!(is_runtime(filename), "{filename} is of the runtime"));
        let program = [
            "/srv/train.py",
            "src/main.rs",
            "/opt/lib/python3.12/site-packages/transformers/models/gpt2/modeling_gpt2.py",
            "/opt/lib/python3.12/site-packages/torchvision/models/resnet.py",
            "/tmp/ipykernel_71/2983.py",
            "<eval_with_key>.3",
            "/home/me/torch/mine.py",
            RECORDED_MODULE,
            RECORDED_PHASE,
        ];
        program.iter().for_each(|filename| assert!(!is_runtime(filename), "{filename} is of the program"));
    }

    #[test]
    fn symbols_tell_the_operation() {
        for (name, expected) in [
            ("at::_ops::bmm::call(at::Tensor const&)", Some("aten::bmm")),
            ("torch::autograd::generated::MulBackward0::release_variables()", Some("MulBackward0")),
            (
                "torch::autograd::generated::MulBackward0_apply_functional(std::vector<at::Tensor>)",
                Some("MulBackward0"),
            ),
            ("c10::StorageImpl::~StorageImpl()", None),
        ] {
            assert_eq!(operation(name).as_deref(), expected);
        }
    }

    #[test]
    fn the_own_frame_is_where_a_step_calls_the_model() {
        let own = |frames: &[(&str, &str)]| own_position(frames.iter().copied(), |at| is_own(frames[at].1));
        let module = ("_call_impl", "/v/site-packages/torch/nn/modules/module.py");
        let linear = ("forward", "/v/site-packages/torch/nn/modules/linear.py");
        let (model, train) = (("forward", "/srv/model.py"), ("step", "/srv/train.py"));
        let trainer = ("training_step", "/v/site-packages/transformers/trainer.py");
        assert_eq!(own(&[linear, module, model, module, train, ("main", "/srv/train.py")]), Some(4));
        assert_eq!(own(&[linear, module, trainer, train]), Some(3));
        assert_eq!(own(&[("cat", "??"), model, train]), Some(1));
        assert_eq!(own(&[("backward", "/v/site-packages/torch/_tensor.py"), train]), Some(1));
        // The script and the package that it runs are both installed, so no frame is the user's own.
        assert_eq!(own(&[linear, module, trainer]), None);
        // The model is the user's own code, the script that calls it is not.
        assert_eq!(own(&[linear, module, model, module, trainer]), Some(2));
        assert_eq!(own(&[("head · forward", RECORDED_MODULE), ("forward", RECORDED_PHASE)]), None);
        assert_eq!(own(&[]), None);
    }

    #[track_caller]
    fn check(rule: &str, own: &[&str], foreign: &[&str]) {
        let rule = OwnCode::of_text(rule);
        assert_eq!(OwnCode::of_text(&rule.to_string()), rule);
        own.iter().for_each(|path| assert!(rule.is_own(path), "{path} is own"));
        foreign.iter().for_each(|path| assert!(!rule.is_own(path), "{path} is not own"));
    }

    #[test]
    fn rules_are_texts() {
        let (train, hf) = ("/srv/train.py", "/v/site-packages/transformers/trainer.py");
        let (torch, recorded) = ("/v/site-packages/torch/nn/functional.py", RECORDED_MODULE);
        check("", &[train], &[hf, torch, recorded, "", "<eval_with_key>.3"]);
        check("transformers", &[hf], &[train, torch, recorded]);
        check("nn/, srv", &[torch, train], &[hf]);
        check("!", &[train, hf], &[torch, recorded, "??"]);
        check("!transformers", &[train], &[hf, torch]);
    }
}
