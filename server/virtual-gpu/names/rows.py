"""The committed lists: `torch.txt`, what versions of PyTorch want, and `failing.txt`, what fails by name."""

from pathlib import Path


class Wanted:
    """Rows of kind, name and versions of PyTorch: `import cudaMalloc 2.6.0..`, from that version to the newest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head, lines = read(path)
        self.versions = next((line.split()[1:] for line in lines if line.startswith("versions ")), [])
        self.rows: dict[tuple[str, str], set[str]] = {}
        for line in lines:
            kind, name, *spans = line.split()
            if kind != "versions":
                self.rows[kind, name] = {version for span in spans for version in self.within(span)}

    def within(self, span: str) -> list[str]:
        """Versions of a span: `2.6.0..2.8.0`, or `2.6.0..` up to the newest."""
        first, last = span.split("..")
        start, end = self.versions.index(first), self.versions.index(last) if last else len(self.versions) - 1
        return self.versions[start : end + 1]

    def set_version(self, version: str, wanted: dict[str, set[str]]) -> None:
        """Replaces what one version wants."""
        self.versions = sorted({*self.versions, version}, key=lambda text: [int(part) for part in text.split(".")])
        for versions in self.rows.values():
            versions.discard(version)
        for kind, names in wanted.items():
            for name in names:
                self.rows.setdefault((kind, name), set()).add(version)

    def spans(self, versions: set[str]) -> str:
        """Fewest spans that hold exactly these versions."""
        spans: list[list[str]] = []
        for index, version in enumerate(self.versions):
            if version not in versions:
                continue
            if spans and index and spans[-1][1] == self.versions[index - 1]:
                spans[-1][1] = version
            else:
                spans.append([version, version])
        newest = self.versions[-1]
        return " ".join(f"{first}..{'' if last == newest else last}" for first, last in spans)

    def write(self) -> None:
        """Writes the rows in the order of kind and name."""
        rows = [
            f"{kind} {name} {self.spans(versions)}" for (kind, name), versions in sorted(self.rows.items()) if versions
        ]
        write(self.path, self.head, [f"versions {' '.join(self.versions)}", *rows])


class Failing:
    """Rows of library and name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head, lines = read(path)
        self.libraries = {name: library for library, name in (line.split() for line in lines)}

    def add(self, functions: dict[str, str]) -> None:
        """Adds functions by name, with the library of each."""
        self.libraries.update(functions)

    def remove(self, names: set[str]) -> None:
        """Removes functions."""
        for name in names:
            self.libraries.pop(name, None)

    def write(self) -> None:
        """Writes the rows in the order of library and name."""
        write(self.path, self.head, sorted(f"{library} {name}" for name, library in self.libraries.items()))


def read(path: Path) -> tuple[list[str], list[str]]:
    """Comments at the head of a list, and its rows."""
    lines = path.read_text().splitlines()
    return [line for line in lines if line.startswith("#")], [
        line for line in lines if line and not line.startswith("#")
    ]


def write(path: Path, head: list[str], rows: list[str]) -> None:
    """Writes a list."""
    path.write_text("\n".join([*head, *rows, ""]))
