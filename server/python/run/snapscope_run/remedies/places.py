"""Finds what the user has written: statements, calls and the names of variables; and writes it anew."""

import ast
import functools
import linecache
import re
import sys

from .. import lines


# Longest line of a statement that is written anew.
_LONGEST = 100

# Items of a list or a dictionary that are searched for a value.
_MOST_ITEMS = 64


class Site:
    """What one remedy has changed, with the lines that change the same in the user's files."""

    def __init__(self, name, options):
        self.options = options
        # True if the card has no bfloat16.
        self.is_half_only = options["capability"] < 8
        self.facts = {"applied": [], "lines": [], "refused": None, "settings": False, "moved_bytes": 0, "flops": 0, "more_flops": 0}
        self.name = name
        self.totals = {}
        self.told = set()

    @property
    def is_settled(self):
        """True if the remedy has been applied by a setting of a framework."""
        return bool(self.facts["applied"])

    def apply(self, what, *edits):
        """Notes a place that was changed, and the edits that do it; see `edit`."""
        if what not in self.facts["applied"]:
            self.facts["applied"].append(what)
        for one in edits:
            for line in (_import_of_torch(one), one):
                if line is not None and line not in self.facts["lines"]:
                    self.facts["lines"].append(line)

    def once(self, *key):
        """Returns true the first time that it is asked for a key: a place is written anew once."""
        is_new = key not in self.told
        self.told.add(key)
        return is_new

    def refuse(self, reason):
        """Says why the run does not prove this remedy; the first reason counts."""
        self.facts["refused"] = self.facts["refused"] or reason

    def add(self, name, amount):
        """Adds to a figure of the current step."""
        self.totals[name] = self.totals.get(name, 0) + amount

    def counted(self, steps):
        """Keeps the figures of a step as those of each."""
        if self.totals:
            self.facts.update(self.totals)
            self.totals.clear()


def frames():
    """Yields the user's own frames, the innermost first."""
    frame = sys._getframe()
    while frame is not None:
        if lines.kind(frame.f_code.co_filename) == "own":
            yield frame
        frame = frame.f_back


def own_place():
    """Returns (file, line) of the innermost own frame; None if there is none."""
    frame = next(frames(), None)
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


@functools.lru_cache(maxsize=None)
def _tree(file):
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _first(node):
    """Returns the first line of a statement: that of its decorators, where it has some."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


@functools.lru_cache(maxsize=None)
def statement(file, line):
    """Returns the innermost statement at a line; None if the file cannot be read."""
    tree = _tree(file)
    found = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and _first(node) <= line <= node.end_lineno:
            if found is None or node.end_lineno - node.lineno <= found.end_lineno - found.lineno:
                found = node
    return found


def calls(node, name):
    """Returns the calls of a function in a statement, by the last part of its name."""
    nodes = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return [one for one in nodes if getattr(one.func, "attr", getattr(one.func, "id", None)) == name]


def edit(place, where, text):
    """Returns an edit of the user's file: new lines `before` or `after` a statement, or `instead` of it.

    The lines get the indentation of the statement. None if the place is not known.
    """
    node = statement(*place) if place is not None else None
    if node is None:
        return None
    first = linecache.getline(place[0], _first(node))
    indent = first[: len(first) - len(first.lstrip())]
    text = "\n".join(indent + part if part else part for part in text.split("\n"))
    return {"file": place[0], "line": _first(node), "last": node.end_lineno, "where": where, "text": text}


def _import_of_torch(one):
    """Returns an edit that imports PyTorch into a file that does without it; None if an edit does not need it."""
    file = one and one.get("file")
    if not file or not re.search(r"(?<!from )(?<!import )\btorch\.", one["text"]):
        return None
    names = (name for node in ast.walk(_tree(file)) if isinstance(node, ast.Import) for name in node.names)
    is_there = any((name.asname or name.name.split(".")[0]) == "torch" for name in names)
    return None if is_there else edit((file, imports_end(file)), "before", "import torch")


# Stands for the body of a statement of which the head is written anew.
_BODY = "\n    pass"

# Statements that are written anew, by file and line: the edit, which several remedies share, and its syntax tree.
_anew = {}


def rewritten(place, name, change, then=None):
    """Returns an edit that rewrites the call of a function in the statement at a place; None if it is not there.

    `change` gets the node of the call and changes it; the statement `then` goes behind that of the call. Of a loop or a
    `with`, the head is rewritten.
    """
    found = _current(place, name)
    if found is None:
        return None
    one, tree = found
    call = next(iter(calls(tree, name)), None)
    if call is None:
        # A loop comes by again, and the call has another name by now.
        return one
    change(call)
    if then is not None:
        _insert(tree, name, ast.parse(then).body)
    return _renewed(place, one, tree)


def enclosed(place, name, before, wrap):
    """Returns an edit that puts statements before the one at a place, which `wrap` changes; None without that call."""
    node = statement(*place) if place is not None else None
    found = _current(place, name) if not hasattr(node, "body") else None
    if found is None:
        return None
    one, tree = found
    tree.body = [*ast.parse(before).body, *wrap(tree.body)]
    return _renewed(place, one, tree)


def _current(place, name):
    node = statement(*place) if place is not None else None
    last = _head_end(node)
    if last is None:
        return None
    key = place[0], node.lineno
    if key not in _anew:
        text = _dedented(place[0], node.lineno, last) + (_BODY if hasattr(node, "body") else "")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return None
        _anew[key] = {**edit(place, "instead", ""), "last": last}, tree
    found = _anew[key]
    return found if calls(found[1], name) else None


def _head_end(node):
    """Returns the last line of a statement, or of its head if it has a body that begins on a later line."""
    if not hasattr(node, "body"):
        return getattr(node, "end_lineno", None)
    heads = (getattr(node, field, None) for field in ("iter", "test", "items"))
    parts = (part for head in heads if head is not None for part in (head if isinstance(head, list) else [head]))
    ends = [getattr(part, "context_expr", part).end_lineno for part in parts]
    return max(ends) if ends and max(ends) < node.body[0].lineno else None


def _renewed(place, one, tree):
    text = "\n".join(map(_text, ast.fix_missing_locations(tree).body)).removesuffix(_BODY)
    one["text"] = edit(place, "instead", text)["text"]
    return one


def _insert(tree, name, statements):
    """Inserts statements behind the innermost one that calls a function."""
    for node in ast.walk(tree):
        for index, one in enumerate(getattr(node, "body", ())):
            if not hasattr(one, "body") and calls(one, name):
                node.body[index + 1 : index + 1] = statements
                return


def _text(node):
    """Returns the source of a statement, with an argument a line where it would be long."""
    text = ast.unparse(node)
    call = getattr(node, "value", None)
    if len(text) <= _LONGEST or not isinstance(call, ast.Call):
        return text
    head = text[: -len(ast.unparse(call))] + ast.unparse(call.func)
    return "\n    ".join([f"{head}(", *(f"{ast.unparse(one)}," for one in (*call.args, *call.keywords))]) + "\n)"


def _dedented(file, line, last):
    lines = [text.rstrip("\n") for text in linecache.getlines(file)[line - 1 : last]]
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(text[indent:] for text in lines)


def with_keywords(**values):
    """Returns a change for `rewritten` that sets keyword arguments."""

    def change(call):
        for name, value in values.items():
            call.keywords = [one for one in call.keywords if one.arg != name]
            call.keywords.append(ast.keyword(name, ast.parse(repr(value), mode="eval").body))

    return change


def variable(wanted):
    """Returns (value, name, place) of the user's variable for which `wanted` is true, with the statement that now runs.

    Local and global variables are searched, the items of their lists and dictionaries, and the attributes of objects;
    None if there is none. What a comprehension names is gone behind it.
    """
    for frame in frames():
        place = frame.f_code.co_filename, frame.f_lineno
        node = statement(*place)
        inner = [one.target for one in ast.walk(node) if isinstance(one, ast.comprehension)] if node is not None else []
        gone = _bound(inner)
        for space in (frame.f_locals, frame.f_globals):
            named = [(name, value) for name, value in list(space.items()) if name not in gone]
            for name, value in named:
                if wanted(value):
                    return value, name, place
            for name, value in named:
                for inner, held in _held(name, value):
                    if wanted(held):
                        return held, inner, place
    return None


def _bound(nodes):
    """Returns the names that syntax trees assign to."""
    names = (name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _held(name, value):
    """Yields (expression, value) of what a variable holds."""
    if name.startswith(("__", ".")):
        return
    if type(value) in (list, tuple):
        yield from ((f"{name}[{index}]", held) for index, held in enumerate(value[:_MOST_ITEMS]))
    elif type(value) is dict:
        yield from ((f"{name}[{key!r}]", held) for key, held in list(value.items())[:_MOST_ITEMS] if type(key) is str)
    elif hasattr(value, "__dict__") and not isinstance(value, type(sys)):
        yield from ((f"{name}.{inner}", held) for inner, held in list(vars(value).items()))


def imports_end(file):
    """Returns the line of the first statement of a file behind its docstring and its imports."""
    tree = _tree(file)
    for node in tree.body if tree is not None else ():
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_text:
            return _first(node)
    return None


def outside_loops(place, name):
    """Returns the place before the outermost loop that runs a place, within its function, and that knows a name."""
    file, line = place
    tree = _tree(file)
    around = [node for node in ast.walk(tree) if _is_around(node, line)] if tree is not None else []
    around.sort(key=lambda node: -node.lineno)
    for node in around:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in _bound([node]):
            break
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            line = node.lineno
    return file, line


def _is_around(node, line):
    return isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
