//! Tests that the loader finds the virtual GPU through the audit library, wherever a program looks for CUDA.

mod library;

use std::process::{Command, Output};

/// Runs a Python program under the audit library, with the virtual GPU in a folder of its own.
fn run(program: &str, variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut install = Command::new("bash");
    install.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/install")).arg(library::path()).arg(folder.path());
    assert!(install.status().expect("bash can be started").success());
    let mut python = Command::new("python3");
    python.args(["-c", program]).env("LD_AUDIT", folder.path().join("libsnapscope_audit.so"));
    python.env("SNAPSCOPE_VIRTUAL_GPU", "2x t4-16gb").env_remove("LD_LIBRARY_PATH").env_remove("CUDA_VISIBLE_DEVICES");
    python.envs(variables.iter().copied()).output().expect("python3 can be started")
}

/// Runs a program and compares what it prints.
#[track_caller]
fn check(program: &str, printed: &str) {
    check_with(&[], program, printed);
}

/// Runs a program with environment variables and compares what it prints.
#[track_caller]
fn check_with(variables: &[(&str, &str)], program: &str, printed: &str) {
    let output = run(program, variables);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), printed, "{errors}");
    assert!(output.status.success(), "{errors}");
}

/// Python function that counts the devices that a library sees.
const COUNT: &str = "
import ctypes, os, subprocess, sys
def count(name):
    number = ctypes.c_int(-1)
    status = ctypes.CDLL(name).cudaGetDeviceCount(ctypes.byref(number))
    return status, number.value
";

#[test]
fn a_path_that_is_not_there_leads_to_the_virtual_gpu() {
    check(&format!("{COUNT}print(count('/nowhere/nvidia/lib/libcudart.so.13'))"), "(0, 2)");
    check(&format!("{COUNT}print(count('/nowhere/nvidia/lib/libcudart.so.12'))"), "(0, 2)");
}

#[test]
fn a_bare_name_leads_there_too() {
    check(&format!("{COUNT}print(count('libcudart.so.13'))"), "(0, 2)");
    check("import ctypes; print(ctypes.CDLL('libnvidia-ml.so.1').nvmlInit_v2())", "0");
    check("import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))", "0");
}

#[test]
fn all_names_are_one_gpu() {
    let program = "
one, other = (ctypes.CDLL(name) for name in ['/a/libcudart.so.13', 'libcuda.so.1'])
address = ctypes.c_void_p()
free = [ctypes.c_size_t(), ctypes.c_size_t()]
total = ctypes.c_size_t()
one.cudaMemGetInfo(ctypes.byref(free[0]), ctypes.byref(total))
one.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(64 << 20))
other.cuMemGetInfo_v2(ctypes.byref(free[1]), ctypes.byref(total))
print(free[0].value - free[1].value >> 20)
";
    check(&format!("{COUNT}{program}"), "64");
}

#[test]
fn child_processes_come_along() {
    let program = "
child = 'import ctypes; print(ctypes.CDLL(\"/a/libcuda.so.1\").cuInit(0), flush=True)'
subprocess.run([sys.executable, '-c', child], check=True)
";
    check(&format!("{COUNT}{program}"), "0");
}

#[test]
fn functions_that_are_not_modelled_are_counted_by_name() {
    let program = "
runtime = ctypes.CDLL('/a/libcudart.so.13')
heard = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int)(lambda *call: print(*call))
runtime.snapscopeOnUnsupported(heard)
runtime.cudaGraphAddNode()
runtime.cudaGraphAddNode()
function = ctypes.c_void_p()
runtime.cuGetProcAddress(b'cuNewest', ctypes.byref(function), 13000, ctypes.c_ulonglong(0))
print(ctypes.CFUNCTYPE(ctypes.c_int)(function.value)())
";
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("calls");
    check_with(
        &[("SNAPSCOPE_VIRTUAL_GPU_UNSUPPORTED", file.to_str().expect("the path is text"))],
        &format!("{COUNT}{program}"),
        "b'cudaGraphAddNode' b'cudart' 801\nb'cuNewest' b'cuda' 801\n801",
    );
    let rows = std::fs::read_to_string(file).expect("the file was written");
    let parts: Vec<_> = rows.lines().map(|row| row.split_once(',').map_or("", |(_, rest)| rest)).collect();
    assert_eq!(
        parts,
        [
            r#""function":"cudaGraphAddNode","library":"cudart","status":801,"calls":1}"#,
            r#""function":"cuNewest","library":"cuda","status":801,"calls":1}"#,
            r#""function":"cudaGraphAddNode","library":"cudart","status":801,"calls":2}"#,
        ]
    );
}

#[test]
fn other_libraries_are_left_alone() {
    let output = run("import ctypes; ctypes.CDLL('/nowhere/libcudart.so.11')", &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/libcudart.so.11"), "{output:?}");
}

#[test]
fn cards_are_hidden_from_cuda_and_not_from_nvml() {
    let program = "
monitor = ctypes.CDLL('libnvidia-ml.so.1')
monitor.nvmlInit_v2()
number = ctypes.c_uint()
monitor.nvmlDeviceGetCount_v2(ctypes.byref(number))
bus = ctypes.create_string_buffer(32)
ctypes.CDLL('libcudart.so.13').cudaDeviceGetPCIBusId(bus, 32, 0)
print(count('libcudart.so.13'), number.value, bus.value.decode())
";
    check_with(&[("CUDA_VISIBLE_DEVICES", "1")], &format!("{COUNT}{program}"), "(0, 1) 2 0000:02:00.0");
    check_with(&[("CUDA_VISIBLE_DEVICES", "")], &format!("{COUNT}print(count('libcudart.so.13'))"), "(100, 0)");
}

#[test]
fn nvidia_smi_lists_the_same_cards() {
    let program = "
folder = os.path.dirname(os.environ['LD_AUDIT'])
def smi(*arguments):
    command = [sys.executable, os.path.join(folder, 'bin', 'nvidia-smi'), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
print(smi('-L').splitlines()[1])
print(smi('--query-gpu=index,name,memory.total,compute_cap', '--format=csv,noheader,nounits'))
print(smi('--query-gpu=memory.free', '--format=csv').splitlines()[:2])
print('CUDA Version: 13.0' in smi())
";
    check(
        &format!("{COUNT}{program}"),
        "GPU 1: Tesla T4 (UUID: GPU-736e6170-7363-6f70-652d-677075000001)\n0, Tesla T4, 14930, 7.5\n\
         1, Tesla T4, 14930, 7.5\n['memory.free [MiB]', '14930 MiB']\nTrue",
    );
}
