"""Finds the line of the user's own code that led to the current call."""

import sys
import sysconfig
import threading

_PACKAGES = ("/site-packages/", "/dist-packages/")
_LIBRARY = tuple({path for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")) if path})
_HOOK = __file__.rsplit("/", 1)[0]
_kinds = {}


def kind(file):
    """Returns `own` for the user's files, `package` for installed ones, and `inner` for Python's and the hook's."""
    found = _kinds.get(file)
    if found is None:
        if file.startswith(("<", _HOOK)):
            found = "inner"
        elif any(part in file for part in _PACKAGES):
            found = "package"
        else:
            found = "inner" if file.startswith(_LIBRARY) else "own"
        _kinds[file] = found
    return found


def is_hooks(file):
    """Returns true for a file of the hook."""
    return file.startswith(_HOOK)


def caller():
    """Returns the innermost frame that is not the hook's."""
    frame = sys._getframe()
    while frame.f_back is not None and is_hooks(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_line():
    """Returns (file, line, function) of the innermost own frame, or of the innermost package's if none is the user's.

    A thread of the autograd engine has none, or only a package's; the main thread waits for it at the user's line.
    """
    # No variable holds this frame: it would hold itself, and with it the tensors of all frames outside.
    return (
        _innermost(sys._getframe(), "own")
        or _innermost(_waiting(), "own")
        or _innermost(sys._getframe(), "package")
    )


def _waiting():
    return sys._current_frames().get(threading.main_thread().ident)


def _innermost(frame, wanted):
    while frame is not None:
        code = frame.f_code
        if kind(code.co_filename) == wanted and (wanted == "own" or "/torch/" not in code.co_filename):
            return code.co_filename, frame.f_lineno, code.co_name
        frame = frame.f_back
    return None


def of_traceback(traceback):
    """Returns (file, line, function) of the innermost own frame of an exception, or of a package's, or of any."""
    found = {}
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found[kind(code.co_filename)] = code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next
    return found.get("own") or found.get("package") or found.get("inner")
