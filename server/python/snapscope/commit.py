"""Finds the commit of the program's folder, without running git."""

from __future__ import annotations

import os


def commit_of(folder: str) -> str | None:
    """Returns the commit that is checked out in a folder or above it."""
    try:
        git = _git_folder(os.path.abspath(folder))
        if git is None:
            return None
        head = _read(os.path.join(git, "HEAD"))
        if not head.startswith("ref:"):
            return _hash(head)
        name = head[4:].strip()
        if not name.startswith("refs/") or ".." in name:
            return None
        common = git
        if os.path.exists(os.path.join(git, "commondir")):
            common = os.path.join(git, _read(os.path.join(git, "commondir")))
        loose = os.path.join(common, name)
        if os.path.exists(loose):
            return _hash(_read(loose))
        for line in _read(os.path.join(common, "packed-refs"), 1 << 24).splitlines():
            commit, _, packed = line.partition(" ")
            if packed == name:
                return _hash(commit)
    except (OSError, ValueError):
        pass
    return None


def _hash(text: str) -> str | None:
    """Returns a text that is a hash; a repository of a stranger can lead to any file of this machine."""
    return text if len(text) in (40, 64) and not text.strip("0123456789abcdef") else None


def _git_folder(folder: str) -> str | None:
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return git
        if os.path.isfile(git):
            return os.path.join(folder, _read(git).partition("gitdir:")[2].strip())
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _read(path: str, most: int = 4096) -> str:
    """Returns the beginning of a regular file, long enough for a path; `/dev/zero` has no end, and a pipe blocks."""
    if not os.path.isfile(path):
        raise FileNotFoundError(path)
    with open(path, encoding="utf-8") as file:
        return file.read(most).strip()
