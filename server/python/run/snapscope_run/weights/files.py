"""Files of weights in the layout of safetensors, whose data takes no space."""

import json
import os
import struct
import tempfile

# What `git clone` leaves in place of a large file.
_POINTER = b"version https://git-lfs"
_KINDS = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "complex64": "C64", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
# A header is longer than this only in a file that is none.
_MOST_HEADER = 100_000_000
# Bytes of a file, because the kernel maps none that is larger than the memory of the machine.
PART = 2 << 30


class Store:
    """The files that were made in this run."""

    def __init__(self, run, notes):
        self.run = run
        self.notes = notes
        self.made = {}

    def folder(self):
        return tempfile.mkdtemp(prefix="weights-", dir=self.run)

    def note(self, sentence):
        if sentence not in self.notes:
            self.notes.append(sentence)

    def like(self, path):
        """Returns a file with the header of one whose data is missing, and a hole in place of its data."""
        key = os.path.abspath(path)
        if key not in self.made:
            header, size = header_of(path)
            self.made[key] = os.path.join(self.folder(), os.path.basename(path))
            _write(self.made[key], header, size)
            self.note(f"the weights in {path} are not here: their shapes are those of its header")
        return self.made[key]


def is_here(path):
    """Returns true for a file with its data, as far as its header tells."""
    if not os.path.isfile(path) or _is_pointer(path):
        return False
    found = header_of(path) if str(path).endswith(".safetensors") else None
    return found is None or os.path.getsize(path) >= len(found[0]) + found[1]


def is_cut(path):
    """Returns true for a file that has its header and not all of its data."""
    return os.path.isfile(path) and not is_here(path) and header_of(path) is not None


def header_of(path):
    """Returns the header of a file and the bytes of its data, or `None` if the file has no whole header."""
    try:
        with open(path, "rb") as file:
            length = file.read(8)
            size = struct.unpack("<Q", length)[0]
            text = file.read(size) if size <= _MOST_HEADER else b""
        tensors = json.loads(text) if len(text) == size else {}
    except (OSError, ValueError, struct.error):
        return None
    ends = [entry["data_offsets"][1] for name, entry in tensors.items() if name != "__metadata__"]
    return (length + text, max(ends)) if ends else None


def write_all(folder, name, tensors):
    """Writes the files of a model with their index; returns the bytes that their data would take."""
    parts, size = [{}], 0
    for key, tensor in tensors.items():
        size += tensor.numel() * tensor.element_size()
        if size > PART and parts[-1]:
            parts.append({})
            size = tensor.numel() * tensor.element_size()
        parts[-1][key] = tensor
    names = [f"{name}-{number:05}-of-{len(parts):05}.safetensors" for number in range(1, len(parts) + 1)]
    total = sum(write(os.path.join(folder, name), part) for name, part in zip(names, parts))
    places = {key: name for name, part in zip(names, parts) for key in part}
    with open(os.path.join(folder, f"{name}.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": places}, file)
    return total


def write(path, tensors):
    """Writes a file for tensors of these names; returns the bytes that their data would take."""
    header, size = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        end = size + tensor.numel() * tensor.element_size()
        kind = _KINDS[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [size, end]}
        size = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    _write(path, struct.pack("<Q", len(text)) + text, size)
    return size


def _write(path, header, size):
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + size)


def _is_pointer(path):
    with open(path, "rb") as file:
        return file.read(len(_POINTER)) == _POINTER
