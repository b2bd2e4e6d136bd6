"""Reads the dynamic symbols of an ELF file for 64 bits, with nothing but Python."""

import mmap
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

# Types of sections.
PROGRAM, DYNAMIC, SYMBOLS, DEFINED_VERSIONS, NEEDED_VERSIONS, VERSION_OF_SYMBOL = (
    1, 6, 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF,
)  # fmt: skip

ALLOCATED, EXECUTABLE = 2, 4
NEEDED = 1
LOCAL = 0


@dataclass
class Library:
    """What a library offers to the loader and wants from it."""

    needed: list[str] = field(default_factory=list)
    # Version node by name; the node is empty for a name without one.
    imported: dict[str, str] = field(default_factory=dict)
    exported: list[str] = field(default_factory=list)
    # Whole strings among the constants that may be names of functions.
    mentioned: set[str] = field(default_factory=set)


def read(path: Path, mention: re.Pattern[bytes] | None = None) -> Library:
    """Reads a library; the strings that `mention` matches are its mentioned names."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path.name} is not an ELF file for a little-endian machine of 64 bits")
        return Reader(data).library(mention)


class Reader:
    """Sections of a file, and what is in them."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        offset, size, count = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HH", data, 0x3A)
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + size * i) for i in range(count)]

    def library(self, mention: re.Pattern[bytes] | None) -> Library:
        """Collects everything."""
        library = Library(needed=self.needed())
        nodes = self.nodes()
        for index, (name, is_defined) in enumerate(self.symbols()):
            if is_defined:
                library.exported.append(name)
            else:
                library.imported[name] = nodes.get(index, "")
        if mention:
            library.mentioned = self.strings(mention)
        return library

    def of_type(self, wanted: int) -> list[tuple[int, ...]]:
        """Sections of a type."""
        return [section for section in self.sections if section[1] == wanted]

    def text(self, section: tuple[int, ...], offset: int) -> str:
        """A string of the section that another one is linked to."""
        start = self.sections[section[6]][4] + offset
        return self.data[start : self.data.find(b"\0", start)].decode()

    def needed(self) -> list[str]:
        """Names of the libraries that the loader loads with this one."""
        names = []
        for section in self.of_type(DYNAMIC):
            for at in range(section[4], section[4] + section[5], 16):
                tag, value = struct.unpack_from("<qQ", self.data, at)
                if tag == NEEDED:
                    names.append(self.text(section, value))
        return names

    def symbols(self) -> list[tuple[str, bool]]:
        """Name of each dynamic symbol, and whether it is defined here for others."""
        found = []
        for section in self.of_type(SYMBOLS):
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, place = struct.unpack_from("<IBBH", self.data, at)
                found.append((self.text(section, name), place != 0 and info >> 4 != LOCAL))
        return found

    def nodes(self) -> dict[int, str]:
        """Version node of each dynamic symbol by its index."""
        names = {}
        for section in self.of_type(NEEDED_VERSIONS):
            at = section[4]
            while True:
                _, count, _, first, following = struct.unpack_from("<HHIII", self.data, at)
                node = at + first
                for _ in range(count):
                    _, _, number, name, step = struct.unpack_from("<IHHII", self.data, node)
                    names[number & 0x7FFF] = self.text(section, name)
                    node += step
                if not following:
                    break
                at += following
        found = {}
        for section in self.of_type(VERSION_OF_SYMBOL):
            for index in range(section[5] // 2):
                number = struct.unpack_from("<H", self.data, section[4] + 2 * index)[0] & 0x7FFF
                if number in names:
                    found[index] = names[number]
        return found

    def strings(self, mention: re.Pattern[bytes]) -> set[str]:
        """Whole strings of the constants that a pattern matches."""
        found = set()
        for section in self.of_type(PROGRAM):
            if section[2] & ALLOCATED and not section[2] & EXECUTABLE and section[5] < 1 << 28:
                part = self.data[section[4] : section[4] + section[5]]
                found.update(
                    match.group(1).decode() for match in re.finditer(rb"\0(" + mention.pattern + rb")(?=\0)", part)
                )
        return found
