//! Recognizes machines and addresses by their shape, and finds the package or project of a frame's code.

use super::texts::is_public_package;
use crate::base::frame_rules;

/// Last labels of host names that do not end words of programs.
const ENDS: &str = "
    com org edu gov mil corp lan internal intranet localdomain
    ac au br ca ch cn cz de dk ee eu fi fr gr hk hr hu ie il ir jp ke kr lv mx ng nl nz pe pk ro ru sa se sg si sk tr tw
    ua uk vn za";

/// Last labels that are also suffixes of files or attributes of modules, so that something else must reveal a host.
const DOUBTFUL_ENDS: &str = "
    ai app ar arpa at be cc cl cloud cluster dev es home id in int io is it local lt lu me my net no ph pl pt rs su svc
    th to tv us";

/// Words in the names of machines.
const MACHINES: &str = "
    compute cn cpu dgx frontier gn gpu gpunode head headnode hgx host ip knoten lambda login lrdn master nid node nodo
    noeud rack server srv superpod vm worker";

/// Words that a number counts or a rank runs, which are no machines.
const NO_MACHINES: &str = "
    backward batch bytes cpu cuda epoch forward gpu iter iteration line localhost loss pid port rank sample samples seed
    size step steps token tokens vocab";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns true for the full name of a machine, such as `gpu-17.corp.internal`.
pub(super) fn is_domain(word: &str) -> bool {
    let Some((rest, last)) = word.rsplit_once('.') else { return false };
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let has_letters = rest.contains(|c: char| c.is_ascii_alphabetic());
    // The last label of a host is in lower case; `Foo.Bar.De` is a class.
    let is_small = last.chars().all(|c| c.is_ascii_lowercase());
    let is_told = || rest.contains('-') || is_host_word(rest.split('.').next().unwrap_or_default());
    has_letters
        && is_small
        && rest.split('.').all(is_label)
        && (is_in(ENDS, last) || is_in(DOUBTFUL_ENDS, last) && is_told())
}

/// Returns true for the short name of a machine, such as `gpu-node-17`, `nid001234` or `ip-10-0-3-7`.
///
/// Its parts are words for machines and numbers, with at least two digits in all, because `gpu0` is a device.
pub(super) fn is_host_word(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let stem = |part: &str| part.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let mut stems = word.split('-').map(stem);
    let mut machines = stems.clone().filter(|stem| stem.len() > 1);
    let ends_in_number = word.ends_with(|c: char| c.is_ascii_digit());
    digits >= 2
        && ends_in_number
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && machines.next().is_some()
        && stems.all(|stem| stem.len() <= 1 || is_in(MACHINES, &stem))
}

/// Returns true for a word before a port at which processes of `torch.distributed` meet, such as `spark:29500`.
///
/// Before other numbers it may be what they count: `dim:4096`.
pub(super) fn is_served(word: &str) -> bool {
    let Some((host, port)) = word.split_once(':') else { return false };
    let is_port = port.parse::<u16>().is_ok_and(|port| (29400..29600).contains(&port));
    is_port && may_be_host(host)
}

/// Returns true for a word that can be a machine where one is expected.
pub(super) fn may_be_host(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_in(NO_MACHINES, word)
}

/// Returns true for an IP address, with or without a port.
pub(super) fn is_address(word: &str) -> bool {
    let bare = word.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inner, _)| inner);
    let without_port = word.rsplit_once(':').map_or(word, |(host, _)| host);
    is_ipv4(word) || is_ipv4(without_port) || is_ipv6(bare.unwrap_or(word))
}

fn is_ipv4(word: &str) -> bool {
    let is_byte = |part: &str| part.len() <= 3 && part.parse::<u8>().is_ok();
    word.split('.').count() == 4 && word.split('.').all(is_byte)
}

/// Returns true for an IPv6 address.
///
/// A shortened one must be `::1` or begin with a group of four characters with a digit, which excludes `c10::add`.
fn is_ipv6(word: &str) -> bool {
    let word = word.split('%').next().unwrap_or_default();
    let groups: Vec<&str> = word.split(':').collect();
    let is_group = |group: &&str| group.len() <= 4 && group.chars().all(|c| c.is_ascii_hexdigit());
    let has_gap = word.contains("::");
    let filled = groups.iter().filter(|group| !group.is_empty()).count();
    let is_known = groups[0].len() == 4 && groups[0].contains(|c: char| c.is_ascii_digit()) || word == "::1";
    groups.iter().all(is_group) && (has_gap && filled < 8 && is_known || !has_gap && groups.len() == 8)
}

/// Kind of the user's own code.
const PROJECT: &str = "project";

/// Returns the package that a file belongs to, such as `torch`, or the kind of its code.
pub(super) fn package_of(filename: &str) -> String {
    if frame_rules::is_recorded(filename) {
        return "recorder".to_owned();
    }
    let path = filename.replace('\\', "/");
    if let Some((_, rest)) = path.rsplit_once("-packages/") {
        let name = rest.split('/').next().unwrap_or_default();
        return name.strip_suffix(".py").unwrap_or(name).to_owned();
    }
    let is_python = path.ends_with(".py") || path.starts_with('<');
    let runtime = if is_python { "Python" } else { "compiled code" };
    if frame_rules::is_runtime(filename) { runtime } else { PROJECT }.to_owned()
}

pub(super) fn is_project(filename: &str) -> bool {
    package_of(filename) == PROJECT
}

/// Returns true for a file of a public package, in which nothing names anybody.
pub(super) fn is_public(filename: &str) -> bool {
    let path = filename.replace('\\', "/");
    match path.rsplit_once("-packages/") {
        Some((_, package)) => is_public_package(package.split(['/', '.']).next().unwrap_or_default()),
        None => filename == frame_rules::RECORDED_OPERATOR,
    }
}

/// Returns true if a symbol of compiled code belongs to PyTorch, CUDA or the compiler, by its namespace or prefix.
///
/// ```text
/// at::Tensor& at::native::add<float>(at::Tensor const&)    yes
/// std::vector<at::Tensor> acme::add(at::Tensor)            no
/// std::vector<acme::Tensor>::push_back(acme::Tensor)       no, because a parameter is somebody's
/// ```
pub(super) fn is_public_symbol(name: &str, filename: &str) -> bool {
    let mut depth = 0_u32;
    let is_outside = |c: &char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    let outside: String = name.chars().filter(is_outside).collect();
    let called = outside.split('(').next().unwrap_or_default().trim_end();
    let called = called.rsplit([' ', '&', '*']).next().unwrap_or_default();
    let space = called.split_once("::").map(|(space, _)| space);
    let is_c = || ["Py", "_Py", "cuda", "cu", "THP", "pthread_"].iter().any(|start| called.starts_with(start));
    let is_known = |space: &str| NAMESPACES.split(' ').any(|known| known == space.trim_start_matches('_'));
    frame_rules::is_native(filename) && space.map_or_else(is_c, is_known) && outermost(name).all(is_known)
}

/// Returns the outermost namespaces in a symbol, those of its parameters too.
fn outermost(symbol: &str) -> impl Iterator<Item = &str> {
    symbol.match_indices("::").filter_map(|(end, _)| {
        let before = symbol[..end].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        let space = &symbol[before.len()..end];
        (!space.is_empty() && !before.ends_with("::")).then_some(space)
    })
}

/// Outermost namespaces of PyTorch and of the libraries that it is built from.
const NAMESPACES: &str = "at c10 torch std aten caffe2 c10d cub cutlass gnu_cxx nccl pybind11 thrust functorch";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_told_from_words_of_programs() {
        for host in ["gpu-node-17.corp.internal", "wandb.corp", "login.hpc.ethz.ch", "node17.local", "a-b.io"] {
            assert!(is_domain(host), "{host}");
        }
        for word in [
            "self.net",
            "model.0.net",
            "encoder.layers3.net",
            "torch.nn.functional",
            "train.py",
            "main.rs",
            "x.pt",
            "AdamW.step",
            "3.5",
        ] {
            assert!(!is_domain(word), "{word}");
        }
        for host in ["gpu-node-17", "ip-10-0-3-7", "nid001234", "node17", "dgx-03", "h100-node-12"] {
            assert!(is_host_word(host), "{host}");
        }
        for word in
            ["gpu0", "gpu-3", "layer-17", "step12", "block-0-17", "gnorm12", "17-3", "h100", "a100", "v100-32gb"]
        {
            assert!(!is_host_word(word), "{word}");
        }
    }

    #[test]
    fn addresses_are_told_from_numbers_and_namespaces() {
        for address in ["10.0.3.7", "10.0.3.7:80", "::1", "fe80::1%eth0", "[2001:db8::1]:80", "1:2:3:4:5:6:7:8"] {
            assert!(is_address(address), "{address}");
        }
        for word in ["1.2.3", "12:30:45", "c10::add", "at::add", "300.1.1.1", "dead:beef", "::"] {
            assert!(!is_address(word), "{word}");
        }
    }

    #[test]
    fn symbols_of_pytorch_are_told_from_others() {
        for name in ["at::_ops::add::call(at::Tensor const&)", "std::vector<at::Tensor> at::f(int)", "PyEval_Frame"] {
            assert!(is_public_symbol(name, "??"), "{name}");
        }
        for name in [
            "std::vector<ada::Tensor>::push_back(ada::Tensor&&)",
            "std::vector<at::Tensor> ada::add(at::Tensor)",
            "ada_kernel",
            "void (anonymous namespace)::k()",
        ] {
            assert!(!is_public_symbol(name, "??"), "{name}");
        }
        assert!(!is_public_symbol("at::f()", "train.py"));
    }

    #[test]
    fn packages_that_everybody_reads_are_public() {
        for file in ["/v/site-packages/torch/f.py", "operator", "dist-packages/timm.py"] {
            assert!(is_public(file), "{file}");
        }
        for file in ["site-packages/acme/f.py", "lib/python3.12/ada.py", "torch/f.py", "train.py", "module", "??"] {
            assert!(!is_public(file), "{file}");
        }
    }

    #[track_caller]
    fn check(filename: &str, package: &str) {
        assert_eq!(package_of(filename), package);
    }

    #[test]
    fn a_file_belongs_to_a_package_or_the_project() {
        check("/v/lib/python3.12/site-packages/torch/nn/f.py", "torch");
        check(r"C:\v\lib\site-packages\typing_extensions.py", "typing_extensions");
        check("dist-packages/vllm/utils.py", "vllm");
        check("lib/python3.12/threading.py", "Python");
        check("<frozen runpy>", "Python");
        check("train.py", "project");
        check("src/main.rs", "project");
        check("CUDACachingAllocator.cpp", "compiled code");
        check("??", "compiled code");
        check("module", "recorder");
    }
}
