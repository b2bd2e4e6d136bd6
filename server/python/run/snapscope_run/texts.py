"""Keeps the hook's own lines out of warnings and of the traceback that ends a script."""

import sys
import warnings

from . import lines
from .notices import tried


def install():
    """Lets warnings from a wrapper name its caller, and the last traceback go on behind it."""
    show, end = warnings._showwarnmsg, sys.excepthook

    def show_warning(message):
        tried(None, _name_caller, message)
        show(message)

    def excepthook(kind, error, traceback):
        tried(None, _shorten, error)
        end(kind, error, error.__traceback__)

    warnings._showwarnmsg = show_warning
    sys.excepthook = excepthook


def _name_caller(message):
    if not lines.is_hooks(message.filename):
        return
    place = message.filename, message.lineno
    frame = sys._getframe()
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != place:
        frame = frame.f_back
    while frame is not None and lines.is_hooks(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None:
        message.filename, message.lineno = frame.f_code.co_filename, frame.f_lineno


def _shorten(error):
    """Takes the hook's entries out of an exception's traceback, and of those of its causes."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _shortened(error.__traceback__)
        error = error.__cause__ or error.__context__


def _shortened(traceback):
    """Returns a traceback without the hook's entries."""
    while traceback is not None and lines.is_hooks(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    entry = traceback
    while entry is not None:
        while entry.tb_next is not None and lines.is_hooks(entry.tb_next.tb_frame.f_code.co_filename):
            entry.tb_next = entry.tb_next.tb_next
        entry = entry.tb_next
    return traceback
