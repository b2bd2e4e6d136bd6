//! Tests the program that lists the names that libraries import and export.

mod library;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

const NAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/names");

/// Runs Python code in the folder of the program, and returns what it prints.
#[track_caller]
fn python(code: &str) -> String {
    let output = Command::new("python3").args(["-c", code]).env("PYTHONPATH", NAMES).output();
    let output = output.expect("python3 can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn it_sees_the_symbols_of_a_library() {
    let path = library::path();
    let bytes = fs::read(path).expect("the library has been built");
    let file = ElfFile64::<Endianness>::parse(bytes.as_slice()).expect("the library is an ELF file");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let expected: BTreeSet<_> = defined.filter_map(|symbol| symbol.name().ok()).collect();
    let code = format!(
        "import elf, pathlib; library = elf.read(pathlib.Path({path:?})); print(*library.exported, sep='\\n'); \
         assert library.imported['dlsym'].startswith('GLIBC_'); assert 'libc.so.6' in library.needed"
    );
    let printed = python(&code);
    assert_eq!(printed.lines().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn versions_are_written_as_spans() {
    let code = "
import pathlib, rows, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / 'torch.txt'
path.write_text('# head\\n')
for version, names in ('2.10.0', {'cudaFree', 'cudaOld'}), ('2.8.0', {'cudaFree', 'cudaOld'}), ('2.9.0', {'cudaFree'}):
    wanted = rows.Wanted(path)
    wanted.set_version(version, {'import': names})
    wanted.write()
print(path.read_text(), end='')
";
    let expected =
        "# head\nversions 2.8.0 2.9.0 2.10.0\nimport cudaFree 2.8.0..\nimport cudaOld 2.8.0..2.8.0 2.10.0..\n";
    assert_eq!(python(code), expected);
}

#[test]
fn the_drivers_header_names_what_programs_import() {
    let code = "
import names
header = '''
#define cuMemAlloc cuMemAlloc_v2
#define cuGraphKernel __CUDA_API_PTSZ(cuGraphKernel_v2)
CUresult CUDAAPI cuInit(unsigned int Flags);
'''
print(*sorted(names.drivers_functions(header)))
";
    assert_eq!(python(code).trim(), "cuGraphKernel_v2 cuInit cuMemAlloc_v2");
}
