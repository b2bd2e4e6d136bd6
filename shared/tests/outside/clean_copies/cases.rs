//! Texts from snapshots of real clusters, with the words that have to go and those that have to stay.
//!
//! No real person's name is in them; the people here are Zuzana, Jürgen Möller and Qu.

use crate::support::copies::Place;
use Place::{Annotation, File, Forward, Function, Setting};

/// Text, words that no copy may contain, and words that the copy keeps.
pub(crate) type Case = (Place, &'static str, &'static [&'static str], &'static [&'static str]);

/// Cases that were written before the rules.
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
    // Personal computers.
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
    // Temporary folders.
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
    // Texts that explain memory and contain no personal data.
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

/// Cases that were withheld until the rules were written, so that the rules are not fitted to them.
pub(crate) const HELD_BACK: &[Case] = &[
    // Shared file systems.
    (File, "/nobackup/users/zuzana/acme/run.py", &["zuzana", "acme", "nobackup"], &["run.py"]),
    (File, "/p/project1/acme/zuzana/run.py", &["zuzana", "acme"], &["run.py"]),
    (File, "/pfss/mlde/workspaces/mlde_wsp_zuzana/run.py", &["zuzana", "mlde"], &["run.py"]),
    (File, "/leonardo_work/IscrB_ACME/zuzana/run.py", &["zuzana", "acme", "leonardo"], &["run.py"]),
    (File, "/iopsstor/scratch/cscs/zuzana/run.py", &["zuzana", "cscs"], &["run.py"]),
    (File, "/n/holylabs/LABS/acme_lab/Users/zuzana/run.py", &["zuzana", "acme", "holylabs"], &["run.py"]),
    (File, "/checkpoint/zuzana/2024/acme/run.py", &["zuzana", "acme"], &["run.py"]),
    (File, "/private/home/zuzana/acme/src/run.py", &["zuzana", "acme"], &["src/run.py"]),
    (File, "/netscratch/qu/run.py", &["/qu", "qu/"], &["run.py"]),
    (File, "/mnt/batch/tasks/shared/LS_root/jobs/zuzana-ws/azureml/x/wd/azureml/run.py", &["zuzana"], &["run.py"]),
    // Personal computers.
    (File, "/private/var/folders/xy/abc123/T/zuzana_9/run.py", &["zuzana", "folders"], &["run.py"]),
    (File, "/mnt/c/Users/Zuzana Nová/acme/run.py", &["zuzana", "nová", "acme"], &["run.py"]),
    (File, r"\\wsl$\Ubuntu\home\zuzana\run.py", &["zuzana"], &["run.py"]),
    (File, r"E:\Projekte\ACME GmbH\zuzana\run.py", &["zuzana", "acme", "projekte"], &["run.py"]),
    (File, "/cygdrive/d/zuzana/run.py", &["zuzana"], &["run.py"]),
    // Clouds and temporary folders.
    (File, "/Workspace/Users/zuzana@acme.com/notebook", &["zuzana", "acme"], &["notebook"]),
    (File, "/teamspace/studios/zuzana-acme/run.py", &["zuzana", "acme"], &["run.py"]),
    (File, "/var/spool/slurmd/job123/slurm_script", &["slurmd", "job123"], &["slurm_script"]),
    (File, "/tmp/pip-build-env-zuzana/overlay/run.py", &["zuzana"], &["run.py"]),
    (File, "/dev/shm/zuzana.1234/run.py", &["zuzana"], &["run.py"]),
    (File, "/root/.cache/bazel/_bazel_zuzana/0a1b/execroot/run.py", &["zuzana"], &["run.py"]),
    (
        File,
        "/n/home03/zuzana/.local/lib/python3.9/site-packages/torch/optim/adam.py",
        &["zuzana", "home03"],
        &["site-packages/torch/optim/adam.py"],
    ),
    (File, "/fsx/zuzana/acme/__editable___acme_0_1_0_finder.py", &["zuzana", "acme"], &["__editable___", "_finder.py"]),
    (
        File,
        "/root/.cache/huggingface/modules/transformers_modules/acme/secret-7b/modeling_own.py",
        &["acme", "secret"],
        &["modeling_own.py"],
    ),
    // Functions and source.
    (Forward, "    dist.init_process_group('nccl', init_method='tcp://10.1.2.3:23456')", &["10.1.2.3"], &["'nccl'"]),
    (
        Forward,
        "    x = torch.load(\"/fsx/zuzana/My Runs/x.pt\")  # zuzana@acme.com",
        &["zuzana", "acme", "my runs"],
        &["torch.load"],
    ),
    (Forward, "    wandb.login(key=\"0123456789abcdef0123456789abcdef01234567\")", &["0123456789"], &["wandb.login"]),
    (Forward, "    y = q @ k.transpose(-1, -2)", &[], &["y = q @ k.transpose(-1, -2)"]),
    // Hosts and addresses.
    (Annotation, "on nid001234, r12i3n5 and dgx-h100-07", &["nid001234", "dgx-h100-07"], &["on"]),
    (Annotation, "rank0@fe80::1ff:fe23:4567:890a", &["fe80"], &[]),
    (Annotation, r"see \\nas17\zuzana\runs", &["nas17", "zuzana"], &["see"]),
    (
        Annotation,
        "hdfs://nn1.acme:8020/user/zuzana/x abfss://c@acme.dfs.core.windows.net/zuzana",
        &["acme", "zuzana"],
        &[],
    ),
    (Annotation, "mailto:zuzana.novak@cs.acme.edu?x", &["zuzana", "novak", "acme"], &[]),
    (Annotation, "jürgen@uni-x.de", &["jürgen", "uni-x"], &[]),
    (Annotation, "postgres://zuzana:hunter2@db.acme.com/x", &["zuzana", "hunter2", "acme"], &[]),
    (Annotation, "zuzana@login1:~/acme", &["zuzana", "login1", "acme"], &[]),
    // Flags, settings, environment.
    (Annotation, "gcc -L/fsx/zuzana/lib -Wl,-rpath,/fsx/zuzana/x -DNAME=/data/zuzana", &["zuzana"], &["gcc", "-L"]),
    (Annotation, "{'user': 'zuzana', 'hostname': \"gpu17\", 'bs': 8}", &["zuzana", "gpu17"], &["'bs': 8"]),
    (Annotation, "/home/zuzana/x.py: Optimizer.step#ZuzanaAdam.step", &["zuzana"], &["Optimizer.step#", "Adam.step"]),
    (Annotation, "PWD=/fsx/zuzana/acme CONDA_PREFIX=/opt/zuzana", &["zuzana", "acme"], &["PWD="]),
    (Annotation, "export HF_TOKEN=abc; password: hunter2", &["abc", "hunter2"], &["HF_TOKEN"]),
    (Setting, "/fsx/zuzana/alloc.so", &["zuzana"], &[]),
    // Keys.
    (Annotation, "AIzaSyA1234567890abcdefghijklmnopqrstuv", &["1234567890"], &[]),
    (Annotation, "glpat-AbCdEfGhIjKlMnOpQrSt xoxb-123456789012-abcdefABCDEF", &["abcdefghij", "123456789012"], &[]),
    (Annotation, "aws wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", &["wjalrx", "k7mdeng"], &["aws"]),
    (Annotation, "run 7c9e6679-7425-40de-944b-e07fc1f90ae7", &["7c9e6679", "e07fc1f90ae7"], &["run"]),
    (Annotation, "-----BEGIN OPENSSH PRIVATE KEY-----b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", &["b3blbnn"], &[]),
    // Texts that explain memory and contain no personal data.
    (Annotation, "DistributedDataParallel.forward", &[], &["DistributedDataParallel.forward"]),
    (Annotation, "FSDP::all_gather_into_tensor (layers.12)", &[], &["FSDP::all_gather_into_tensor (layers.12)"]),
    (Annotation, "Torch-Compiled Region: 0/0", &[], &["Torch-Compiled Region: 0/0"]),
    (Annotation, "epoch 1 / step 2 | lr=3.0e-4", &[], &["epoch 1 / step 2 | lr=3.0e-4"]),
    (Annotation, "user_forward: host_sync", &[], &["user_forward"]),
    (Function, "MyModel.forward", &[], &["MyModel.forward"]),
    (
        Function,
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
        &[],
        &["FillFunctor<float>"],
    ),
    (Setting, "garbage_collection_threshold:0.8,max_split_size_mb:512", &[], &["max_split_size_mb:512"]),
];
