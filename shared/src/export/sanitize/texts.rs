//! Finds paths inside other texts, such as source lines and users' metadata, and which of their words name nobody.
//!
//! A word that is in none of the lists may name a person, a machine, a team or a project.

use hashbrown::HashSet;
use std::sync::LazyLock;

/// Characters that, like white space, end a path without quotes.
const ENDS: &str = "\"'`,;()[]{}<>|";

/// Scheme before a path that is written as a URL.
const FILE_SCHEME: &str = "file://";

/// Replaces each path in a text by the result of `cut`; returns `None` if nothing changed.
///
/// A path is not relative and has at least one folder; in quotes it may contain spaces.
pub(super) fn with_paths(text: &str, mut cut: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut clean = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some((start, end)) = next_path(text, at) {
        if let Some(short) = cut(&text[start..end]) {
            clean.push_str(&text[from..start]);
            // `-Lnn/x.py` would read as a flag `-Lnn` before the path `/x.py` in a second cleaning.
            if is_flag(&text[..start]) && short.contains(['/', '\\']) && short.len() < end - start {
                clean.push('*');
            }
            clean.push_str(&short);
            from = end;
        }
        at = end;
    }
    (from > 0).then(|| clean + &text[from..])
}

/// Returns the start and the end of the first path at or after a position.
fn next_path(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut before = text[..from].chars().next_back();
    for (offset, c) in text[from..].char_indices() {
        let start = from + offset;
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '\\' | '*' | ')' | ']');
        let is_start =
            !before.is_some_and(is_inside) || text[..start].ends_with(FILE_SCHEME) || is_flag(&text[..start]);
        if is_start && begins(&text[start..]) {
            let end = start + length(&text[start..], before);
            if is_path(&text[start..end]) {
                return Some((start, end));
            }
        }
        before = Some(c);
    }
    None
}

/// Returns true if a text ends in a flag that a path follows directly, such as `-I/usr/include`.
fn is_flag(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || ENDS.contains(c)).next().unwrap_or_default();
    word.strip_prefix('-').is_some_and(|flag| !flag.is_empty() && flag.chars().all(|c| c.is_ascii_alphabetic()))
}

fn begins(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [b'/', b'/' | b'*' | b' ' | b'=', ..] => false,
        [b'/', ..] | [b'~', b'/', ..] | [b'\\', b'\\', ..] => true,
        [b'~', letter, ..] | [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Returns the length of a path, up to the closing quote or else up to a character that no path contains.
fn length(text: &str, before: Option<char>) -> usize {
    if let Some(quote) = before.filter(|c| matches!(c, '"' | '\'' | '`')) {
        let line = text.find('\n').unwrap_or(text.len());
        if let Some(end) = text[..line].find(quote) {
            return end;
        }
    }
    let mut end = word_end(text, 0);
    // A folder may have a space in its name: a following word that looks like a path belongs to it.
    while !text[..end].rsplit(['/', '\\']).next().unwrap_or_default().contains('.') && text[end..].starts_with(' ') {
        let next = word_end(text, end + 1);
        let word = &text[end + 1..next];
        if word.starts_with(['/', '\\', '-']) || !word.contains(['/', '\\']) || word.contains([':', '=', '@']) {
            break;
        }
        end = next;
    }
    // `file.py:12` names a line; the colon of a drive is the second character and does not count.
    text[..end].char_indices().skip(2).find(|(_, c)| *c == ':').map_or(end, |(colon, _)| colon)
}

fn word_end(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| c.is_whitespace() || ENDS.contains(c)).map_or(text.len(), |length| from + length)
}

fn is_path(text: &str) -> bool {
    let parts = text.split(['/', '\\']).filter(|part| !part.is_empty());
    parts.take(2).count() == 2
}

/// Folders of storage and operating systems; what follows them in a path belongs to somebody.
const STORAGE: &str = "
    afs anvme apps archive backup beegfs bigdata bulk ceph cephfs cluster cold cygdrive data dbfs dev dfs disk disks
    drive efs export exports ext fast filestore folders fs fss fsx gcs global globalscratch gluster glusterfs gpfs group
    groups hdd hdfs home homes hot hpc input input_data job lab labs local localscratch lustre media ml mnt mount mounts
    mydrive net nfs nobackup nvme org panfs pfs pool private proc proj project projects raid ray repos repository root
    run s3 scratch session share shared shareddrives shares slow slurm slurmd spool srv ssd storage store sys tank team
    teams temp tmp tmpdir user users usr var vast vol volume volumes weka work working works workspace workspaces ws
    wekafs zfs kaggle content torchinductor bazel";

/// Folders that many projects have.
const CODE: &str = "
    attention blocks callbacks code common components config configs core csrc cuda data datasets decoder diffusion
    distributed encoder engine engines eval evaluation examples experiments fsdp functional heads inference
    kernels layer layers lib loss losses metrics model models module modules nets network networks nn notebooks ops
    optim optimizer optimizers parallel pipelines python runner runners samplers schedulers scripts server src test
    tests tools trainer trainers training transforms transformer util utils";

/// Public packages, which people also run from a folder of their own.
const PUBLIC: &str = "
    accelerate apex aten axolotl bitsandbytes c10 caffe2 deepspeed detectron2 diffusers fairseq fairseq2 flash_attn
    functorch gpytorch ignite kornia lightning lightning_fabric litgpt megatron mmcv mmdet mmengine monai nemo numpy
    olmo openfold opacus peft pytorch_lightning sglang tensordict timm torch torch_geometric torch_xla torchao
    torchaudio torchdata torchmetrics torchrl torchtitan torchtune torchvision transformer_engine transformers triton
    trl unsloth verl vllm xformers";

/// Account names that many machines have, and words that are common in stacks and findings.
const NOBODY: &str = "
    actor adapter admin aib all allreduce anaconda anaconda3 app appdata arm64 assets assignment assignment1
    assignment2 assignments audio autocast autodl-tmp autograd azureml azureuser backward base bash batch bazel
    benchmark benchmarks bert bin block bmm bucket build build-static build_artifacts bundled c++ c++11 cache call
    checkpoint checkpoints clip closure cnn colab collect command compile compiler conda conda-bld condaenv
    container contextlib conv convert copy corpus course cpp cpu cpython critic croot csu ctx cub cublas
    cuda_kernels cudnn cutlass databricks ddp debug debugpy deep deepcopy deeplearning deepseek default demo demos
    dependencies deps desktop device dirs dist dll docker documents downloads dpo ec2-user embed embedding entropy
    entrypoint env envs epoch exec execroot exp experiment extensions external false feedstock feedstock_root ffn
    file files finetune flash flow forge forward func function gan gather gcc gcc-compiler gemma generate generated
    glibc gnu gpt gpt2 gpu grad greedy grpo guest gym head hidden homework host hpp html hub huggingface image
    images include inference2 init inner internal ipykernel ipython iter java javascript job jobs jovyan jupyter
    kernel lambda lang large launcher learning lecture lib32 lib64 library libs libstdc++-v3 linear linux llama
    llama-3 llama2 llama3 llm load local locallow log logits logs loop lora machine main mambaforge matmul memory
    memory_profiler micromamba miniconda miniconda3 miniforge miniforge3 minigpt misc mistral mixed mlp mod modal
    ms-python myenv nanogpt nccl new nlp nobody node none norm notebook nptl null objects operator opt out output
    outputs pack package packages path paths phase phi pip pip-cache pkg pkgs playground plugins policy posttrain
    ppo prefetch prefix pretrain pretraining profile profile_memory profiler program programs pyenv pypi
    python-build python3 pytorch pyx quant quantization qwen rank reduce release remote research resnet result
    results reward rlhf rnn roaming rollout run_name runs runtime_resources rust sagemaker sagemaker-user sample
    sandbox save scatter scheduler science script self sequence session setup sft sgd site site-packages small snap
    snapshot snapshots sources spark split stage step stream studios submodules support system t5 task tasks
    teamspace tensor text text_encoder third_party thirdparty this_studio token tokenizer tokens torchinductor
    torchrun train true tune tutorial tutorials ubuntu unet unet3d unpack update user-site uv vae valid validate
    validation validator vendor vendored venv venvs version versions video view virtualenv virtualenvs vision vit
    vocab vscode vscode-server wd weights whisper windows worker wrapper x86_64 zero zip";

/// Words of two letters that are common in texts about training.
const SHORT: &str = "
    ai at bf bn bs cc cd ci cp cu cv db dl dp ds ep eq eu fc fn fp fx hf id if in io is it js kv lm ln lr lt me ml mm mv my
    ne nn no of ok on op or os pp pt py qa qk rl sd sh sm so tf th tl to tp up us vl vm";

type Words = LazyLock<HashSet<&'static str>>;

static STORAGE_WORDS: Words = LazyLock::new(|| STORAGE.split_ascii_whitespace().collect());
static CODE_WORDS: Words = LazyLock::new(|| CODE.split_ascii_whitespace().collect());
static PUBLIC_WORDS: Words = LazyLock::new(|| PUBLIC.split_ascii_whitespace().collect());
static NOBODY_WORDS: Words =
    LazyLock::new(|| [NOBODY, SHORT].iter().flat_map(|list| list.split_ascii_whitespace()).collect());

fn is_in(words: &Words, word: &str) -> bool {
    words.contains(word.to_ascii_lowercase().as_str())
}

/// Returns true for folders of storage or of a system, such as `fsx`, `data2`, `C:`, `17` or the `a` of `homes/a/ada`.
pub(super) fn is_storage(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.chars().take(2).count() < 2 || word.ends_with(':') || is_in(&STORAGE_WORDS, stem)
}

pub(super) fn is_code_folder(word: &str) -> bool {
    is_in(&CODE_WORDS, word)
}

pub(super) fn is_public_package(word: &str) -> bool {
    is_in(&PUBLIC_WORDS, word)
}

/// Returns true if a word of a path reveals nothing about anybody.
pub(super) fn is_nobody(word: &str) -> bool {
    let is_version = || word.trim_start_matches(['v', 'V']).chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_release = || {
        ["python", "cuda", "torch", "pytorch", "py3"].iter().any(|start| {
            let rest =
                word.get(..start.len()).filter(|head| head.eq_ignore_ascii_case(start)).map(|_| &word[start.len()..]);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_')))
        })
    };
    is_version()
        || is_release()
        || is_storage(word)
        || [&CODE_WORDS, &PUBLIC_WORDS, &NOBODY_WORDS].iter().any(|words| is_in(words, word))
        || word.starts_with(['.', '<', '$', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let last = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
        assert_eq!(with_paths(text, last).as_deref().unwrap_or(text), expected);
    }

    #[test]
    fn paths_are_found_among_words() {
        check("  File \"/home/ada/my proj/x.py\", line 3, in f", "  File \"x.py\", line 3, in f");
        check("/a/x.py:12 and ~/b/y.py; z", "x.py:12 and y.py; z");
        check(r"at C:\Users\Ada\x.py:7", "at x.py:7");
        check(r#"{"run": "/data/ada/run1", "n": 2}"#, r#"{"run": "run1", "n": 2}"#);
        check("path=/a/b,/c/d", "path=b,d");
        check(r"from \\nas\team\x.py", "from x.py");
        check("file:///home/ada/x.py", "file://x.py");
        check("cc -I/fsx/ada/inc -isystem/usr/inc", "cc -Iinc -isysteminc");
        check(r"C:\Users\Ada Byron\x.py failed", "x.py failed");
        check("/Users/ada/My Drive/x.py is a/b", "x.py is a/b");
    }

    #[test]
    fn what_is_left_behind_a_flag_is_no_other_flag() {
        let two = |path: &str| path.match_indices('/').nth(1).map(|(slash, _)| path[slash + 1..].to_owned());
        let once = with_paths("y -es/torch/nn/modules/x.py", two).expect("a path");
        assert_eq!(once, "y -es*nn/modules/x.py");
        assert_eq!(with_paths(&once, two), None);
    }

    #[test]
    fn other_slashes_stay() {
        for text in [
            "a / b",
            "bwd:step0/fwd/block0",
            "x //y",
            "/",
            "s/GiB",
            "a/b/c",
            "https://host/a/b",
            "/one",
            "c++/* x */",
            "N/A",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_word_of_paths_names_nobody() {
        for word in
            ["fsx", "Data2", "C:", "python3.12", "v2", "3.12.1", "cuda-12.4", "src", "torch", ".cache", "17", "a"]
        {
            assert!(is_nobody(word), "{word}");
        }
        for word in ["ada", "qu", "möller", "acme", "cs336", "gpu-node-17", "python-ada"] {
            assert!(!is_nobody(word), "{word}");
        }
    }
}
