//! Tests that the library exports every CUDA function and version node that PyTorch's libraries import.

mod library;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

/// Prefixes of the names of CUDA's functions.
const PREFIXES: &[&str] = &["cu", "__cuda", "nccl", "nvml", "nvrtc", "nvshmem"];

/// Functions that PyTorch looks up by name at run time, so that no library imports them.
const FETCHED: &[&str] = &[
    "cuCtxFromGreenCtx",
    "cuCtxGetCurrent",
    "cuCtxPopCurrent_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxSetCurrent",
    "cuDevResourceGenerateDesc",
    "cuDevSmResourceSplitByCount",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetDevResource",
    "cuDeviceGetUuid",
    "cuDevicePrimaryCtxGetState",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGreenCtxCreate",
    "cuGreenCtxDestroy",
    "cuGreenCtxStreamCreate",
    "cuInit",
    "cuMemAddressFree",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemGetAddressRange_v2",
    "cuMemGetAllocationGranularity",
    "cuMemGetAllocationPropertiesFromHandle",
    "cuMemImportFromShareableHandle",
    "cuMemMap",
    "cuMemRelease",
    "cuMemRetainAllocationHandle",
    "cuMemSetAccess",
    "cuMemUnmap",
    "cuMemsetD32Async",
    "cuMulticastAddDevice",
    "cuMulticastBindMem",
    "cuMulticastCreate",
    "cuMulticastUnbind",
    "cuStreamWriteValue32_v2",
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetGpuFabricInfoV",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetHandleByPciBusId_v2",
    "nvmlDeviceGetHandleByUUID",
    "nvmlDeviceGetNvLinkRemoteDeviceType",
    "nvmlDeviceGetNvLinkRemotePciInfo_v2",
    "nvmlDeviceGetP2PStatus",
    "nvmlDeviceGetUUID",
    "nvmlErrorString",
    "nvmlInit_v2",
    "nvmlShutdown",
    "nvmlSystemGetCudaDriverVersion_v2",
];

/// Returns the bytes of the library under test.
fn own_library() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| fs::read(library::path()).expect("the library has been built"))
}

/// Returns the paths of PyTorch's libraries if `./dev` has fetched them, or else none.
fn pytorch_libraries() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/libtorch/lib");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_library = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "so");
    entries.map(|entry| entry.expect("the folder can be read").path()).filter(is_library).collect()
}

fn is_cudas(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn parse(library: &[u8]) -> ElfFile64<'_, Endianness> {
    ElfFile64::parse(library).expect("the library is an ELF file")
}

/// Returns the names of the version nodes that a library defines.
fn versions(library: &[u8]) -> BTreeSet<String> {
    let file = parse(library);
    let endian = file.endian();
    let sections = file.elf_section_table();
    let (mut nodes, strings) = sections.gnu_verdef(endian, library).expect("they can be read").expect("there are some");
    let strings = sections.strings(endian, library, strings).expect("they have names");
    let mut names = BTreeSet::new();
    while let Some((_, mut node)) = nodes.next().expect("a node can be read") {
        let name = node.next().expect("a name can be read").expect("a node has a name");
        let name = name.name(endian, strings).expect("the name is there");
        names.insert(String::from_utf8_lossy(name).into_owned());
    }
    names
}

/// Returns the CUDA functions that one of PyTorch's libraries imports.
///
/// The file can have a gigabyte, most of which is not symbols, so only the parts that are needed are read.
fn imported(path: &Path) -> Vec<String> {
    let cache = ReadCache::new(fs::File::open(path).expect("the library can be opened"));
    let file = ElfFile64::<Endianness, _>::parse(&cache).expect("the library is an ELF file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).filter(|name| is_cudas(name)).collect()
}

#[test]
fn every_import_of_pytorch_is_there() {
    let library = own_library();
    let file = parse(library);
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let exported: BTreeSet<_> = defined.filter_map(|symbol| symbol.name().ok()).collect();
    let mut wanted: BTreeSet<String> = FETCHED.iter().map(|name| (*name).to_owned()).collect();
    wanted.extend(pytorch_libraries().iter().flat_map(|path| imported(path)));
    wanted.retain(|name| !exported.contains(name.as_str()));
    assert!(wanted.is_empty(), "not exported: {wanted:?}");
}

#[test]
fn every_version_node_is_there() {
    let versions = versions(own_library());
    let map = include_str!("../versions.map");
    let nodes: Vec<_> = map.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(nodes.len(), 17);
    for node in nodes {
        assert!(versions.contains(node), "{node} is not among {versions:?}");
    }
}
