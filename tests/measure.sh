# shellcheck shell=bash disable=SC2154 # ./dev sets python
# Commands of ./dev that measure, compare and search: each finds and builds what it needs, and starts a program or a script.

# cargo-fuzz wants a nightly compiler; RUSTC_BOOTSTRAP lets the stable one do the same.
dev_fuzz() {
  local folder target words
  find_part fuzz 0.13.2
  for folder in shared frontend; do
    cd $folder
    for target in $(cargo fuzz list); do
      step "fuzz" "$target for ${1:-60} s"
      words=("-dict=fuzz/dictionaries/$target.dict")
      [ -f "${words[0]#*=}" ] || words=()
      RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" -- -max_total_time="${1:-60}" "${words[@]}"
    done
    cd ..
  done
}

dev_compare() {
  local oracle
  find_python
  oracle=$(packages_of oracle)/bin/python
  build_programs
  release -p snapscope-shared --example resolve --example programs
  [[ ${1:-allocator} != allocator ]] || "$oracle" tests/oracle/allocator.py -o target/programs "${@:2}"
  [[ ${1:-} = allocator ]] || "$oracle" tests/oracle/compare.py "$@"
}
dev_bench() {
  if [ "${1:-}" = functions ]; then exec cargo bench --locked -p snapscope-shared "${@:2}"; fi
  dev_pages
  find_browser
  if [[ $* =~ page|native|scale && $* != *record* ]]; then release -p snapscope-server; else build_programs; fi
  tool bench --release -- "$@"
}
tool() { cargo run --locked -p snapscope-tools --bin "$@"; }
dev_tasks() { dev_pages; find_browser; tool tasks -- "${1:-../shared/fixtures/real}"; }
dev_load() { have haproxy || debian haproxy; build_programs; tool load --release; }
dev_gpu_check() {
  if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then fail "this machine has no NVIDIA GPU"; fi
  build_programs
  tool snapscope-gpu-check --release -- target/gpu-check.md
}
dev_faults() { find_postgres; build_as_tests --bin snapscope-faults; target/debug/snapscope-faults "$@"; }
dev_judge() {
  [ $# != 0 ] || set -- tests/data/mistakes static/gallery tests/mistakes/truth.json
  cargo run --quiet --locked -p snapscope-tests --bin snapscope-judge -- "$@"
}
dev_size() { python3 tests/size.py "$@"; }
dev_names() {
  build_virtual_gpu
  python3 server/virtual-gpu/names/names.py target/release/libsnapscope_virtual_gpu.so "$@"
}
dev_real() { find_python; build_virtual_gpu; "$python" tests/real/real.py --environments "$cache" "$@"; }
dev_wheels() { find_python; build_virtual_gpu; "$python" tests/wheels/wheels.py --environments "$cache" "$@"; }
dev_workspaces() {
  build_virtual_gpu
  LD_AUDIT=$PWD/target/virtual-gpu/libsnapscope_audit.so SNAPSCOPE_VIRTUAL_GPU=h200-141gb \
    "$1" tests/oracle/workspaces.py "$2"
}
dev_workloads() { with_program ../real/workloads h200-141gb "$@"; }
with_program() {
  build_virtual_gpu
  release -p snapscope-server
  python3 "tests/oracle/$1.py" "$PWD/target/release/snapscope" "${@:2}"
}
dev_overhead() { with_program overhead "$PWD/target/virtual-gpu" "$@"; }
dev_rival() { with_program rival "$@"; }
dev_scripts() { with_program scripts "$@"; }
dev_published() { with_program ../published/published "$@"; }
