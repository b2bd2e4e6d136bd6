//! Texts as they stand in snapshots of real clusters: what has to go, and what has to stay.
//!
//! Nobody's name is in them; the people here are Zuzana, Jürgen Möller and Qu.

/// Where a text stands in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The file of a frame.
    File,
    /// The function of a frame of the project.
    Function,
    /// The lines of the forward pass, which have source in them.
    Forward,
    /// The name of an annotation.
    Annotation,
    /// A setting of the allocator.
    Setting,
}

use Place::{Annotation, File, Forward, Function, Setting};

/// A text, the words that no copy may have, and the words that it keeps.
pub(crate) type Case = (Place, &'static str, &'static [&'static str], &'static [&'static str]);

/// Written before the rules.
pub(crate) const KNOWN: &[Case] = &[
    // Shared file systems.
    (File, "/fsx/zuzana/acme/train.py", &["zuzana", "acme"], &["train.py"]),
    (File, "/data/zuzana/acme/train.py", &["zuzana", "acme"], &["train.py"]),
    (File, "/mnt/nfs/zuzana/train.py", &["zuzana"], &["train.py"]),
    (File, "/afs/cern.ch/user/z/zuzana/acme/fit.py", &["zuzana", "cern", "acme"], &["fit.py"]),
    (File, "/global/homes/z/zuzana/acme/fit.py", &["zuzana", "acme"], &["fit.py"]),
    (File, "/gpfs/alpine/proj17/zuzana/run.py", &["zuzana", "proj17"], &["run.py"]),
    (File, "/lustre/fs3/acme/zuzana/src/model.py", &["zuzana", "acme"], &["src/model.py"]),
    (File, "/cluster/work/acme/zuzana/run.py", &["zuzana", "acme"], &["run.py"]),
    (File, "/storage/home/hcoda1/5/zuzana/x/run.py", &["zuzana", "hcoda1"], &["run.py"]),
    (File, "/work/acme/zuzana/run.py", &["zuzana", "acme"], &["run.py"]),
    (File, "/scratch/gpfs/qu/run.py", &["/qu/", "gpfs"], &["run.py"]),
    (File, "/home/jürgen.möller/a/run.py", &["jürgen", "möller"], &["run.py"]),
    // Desks.
    (File, "/Users/zuzana/Documents/acme/nb.py", &["zuzana", "acme"], &["nb.py"]),
    (File, "C:\\Users\\Zuzana\\acme\\train.py", &["zuzana", "acme"], &["train.py"]),
    (File, "D:\\zuzana\\acme\\models\\unet.py", &["zuzana", "acme"], &["models/unet.py"]),
    (File, "\\\\nas-acme\\zuzana\\train.py", &["zuzana", "acme"], &["train.py"]),
    // Clouds.
    (File, "/dbfs/FileStore/zuzana@acme.com/train.py", &["zuzana", "acme"], &["train.py"]),
    (File, "/content/drive/MyDrive/zuzana/train.py", &["zuzana"], &["train.py"]),
    (File, "/kaggle/working/train.py", &["kaggle"], &["train.py"]),
    (File, "/opt/ml/code/train.py", &["/opt"], &["train.py"]),
    (File, "/workspace/zuzana/train.py", &["zuzana", "workspace"], &["train.py"]),
    // Machines' own folders.
    (File, "/tmp/ray/session_2024-05-01_zuzana/runtime_resources/x/task.py", &["zuzana"], &["task.py"]),
    (File, "/tmp/ipykernel_123/456.py", &["/tmp"], &["456.py"]),
    (File, "/tmp/torchinductor_zuzana/3u/c3u.py", &["zuzana"], &["torchinductor/3u/c3u.py"]),
    // Packages.
    (
        File,
        "/fsx/zuzana/conda/envs/acme/lib/python3.10/site-packages/torch/nn/modules/linear.py",
        &["zuzana", "acme"],
        &["site-packages/torch/nn/modules/linear.py"],
    ),
    (File, "/data/zuzana/miniconda3/lib/python3.11/threading.py", &["zuzana"], &["lib/python3.11/threading.py"]),
    (
        File,
        "/fsx/zuzana/transformers/src/transformers/models/gpt2/modeling_gpt2.py",
        &["zuzana"],
        &["transformers/models/gpt2/modeling_gpt2.py"],
    ),
    // Functions and source.
    (Forward, "  File \"/fsx/zuzana/acme/net.py\", line 3, in forward", &["zuzana", "acme"], &["net.py", "line 3"]),
    (Forward, "    key = \"hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345\"", &["abcdefghij"], &["key = "]),
    (Function, "<lambda>", &[], &["<lambda>"]),
    // Hosts and addresses.
    (Annotation, "step on gpu-node-17.corp.internal", &["gpu-node", "corp"], &["step on"]),
    (Annotation, "step on ip-10-0-3-7.ec2.internal now", &["10-0-3-7", "ec2"], &["step on", "now"]),
    (Annotation, "master 10.0.3.7:29500", &["10.0.3.7"], &["master"]),
    (Annotation, "master [2001:db8::17]:29500", &["2001:db8"], &["master"]),
    (Annotation, "https://wandb.corp/zuzana/run", &["wandb", "zuzana"], &[]),
    (Annotation, "load s3://acme-bucket/zuzana/x.pt", &["acme", "zuzana"], &["load"]),
    (Annotation, "load gs://acme/zuzana", &["acme", "zuzana"], &["load"]),
    (Annotation, "git@git.acme.org:zuzana/repo.git", &["acme", "zuzana", "repo"], &[]),
    (Annotation, "asked by zuzana@acme.com.", &["zuzana", "acme"], &["asked by"]),
    // Flags, settings, environment.
    (Annotation, "nvcc -I/fsx/zuzana/x -O3", &["zuzana"], &["nvcc -I", "-O3"]),
    (Annotation, "USER=zuzana SLURM_JOB_ID=7", &["zuzana"], &["USER="]),
    (Setting, "log:/fsx/zuzana/log,expandable_segments:True", &["zuzana"], &["expandable_segments:True"]),
    // Keys.
    (Annotation, "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345", &["abcdefghij"], &[]),
    (Annotation, "sk-proj-AbCdEfGhIjKlMnOpQrStUvWx", &["abcdefghij"], &[]),
    (Annotation, "AKIAIOSFODNN7EXAMPLE", &["iosfodnn"], &[]),
    (Annotation, "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", &["abcdefghij"], &[]),
    (Annotation, "wandb 0123456789abcdef0123456789abcdef01234567", &["0123456789abcdef"], &["wandb"]),
    (Annotation, "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", &["eyj", "c2ln"], &["jwt"]),
    (Annotation, "Authorization: Bearer abc.def-ghi", &["abc.def"], &["Authorization"]),
    (Annotation, "WANDB_API_KEY=zzz12", &["zzz12"], &["WANDB_API_KEY="]),
    // What explains memory and names nobody.
    (Annotation, "ProfilerStep#3", &[], &["ProfilerStep#3"]),
    (Annotation, "Optimizer.step#AdamW.step", &[], &["Optimizer.step#AdamW.step"]),
    (Annotation, "## forward 0/1 ##", &[], &["## forward 0/1 ##"]),
    (Annotation, "nccl:all_reduce", &[], &["nccl:all_reduce"]),
    (Annotation, "step 17 of layer-3.mlp at 12:30:45", &[], &["step 17 of layer-3.mlp at 12:30:45"]),
    (Annotation, "encoder.layers.0.self.net", &[], &["encoder.layers.0.self.net"]),
    (Annotation, "gpu0 tokens=512 batch=8", &[], &["gpu0 tokens=512 batch=8"]),
    (Function, "at::_ops::add::call(at::Tensor const&)", &[], &["at::_ops::add::call(at::Tensor const&)"]),
    (Setting, "roundup_power2_divisions:[256:1,512:2]", &[], &["roundup_power2_divisions:[256:1,512:2]"]),
];
