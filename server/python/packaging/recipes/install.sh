#!/bin/sh
# Installs the program of Snapscope into ~/.local/bin, or into the folder in PREFIX:
#   curl -fsSL @RELEASES@/install.sh | sh
set -eu
releases=${SNAPSCOPE_RELEASES:-@RELEASES@}
case "$(uname -sm)" in
  "Linux x86_64") name=snapscope-x86_64-linux.tar.gz ;;
  "Linux aarch64") name=snapscope-aarch64-linux.tar.gz ;;
  *) echo "There is no program for $(uname -sm): build it from a clone with 'cargo build --release -p snapscope-server'" >&2; exit 1 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
curl -fsSL -O "$releases/$name" -O "$releases/SHA256SUMS"
grep " $name\$" SHA256SUMS | sha256sum -c - >/dev/null || { echo "$name is damaged: download it again" >&2; exit 1; }
tar -xzf "$name"
bin=${PREFIX:-$HOME/.local}/bin
mkdir -p "$bin"
install -m 755 snapscope-*/snapscope "$bin/snapscope"
echo "Installed $bin/snapscope; try 'snapscope demo'"
