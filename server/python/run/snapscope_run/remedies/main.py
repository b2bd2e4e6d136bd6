"""Runs a script with other sizes in its command or its constants: `python main.py SCRIPT ARGUMENTS…`.

`snapscope fix` starts a script so where it gives the script another size, and where runs of it share an import of torch.
"""

import ast
import os
import sys


def _main():
    # Only the hook's folder has it, which is on the path of this process.
    from snapscope_run import sharing, start

    if "serve" in start.options:
        sharing.serve(start.options["serve"], start.begin)
    script = sys.argv[1]
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    with open(script, "rb") as file:
        tree = ast.parse(file.read(), script)
    from snapscope_run.remedies import batches

    batches.change(tree, script, start.options)
    names = sys.modules["__main__"].__dict__
    for name in list(names):
        if not name.startswith("__"):
            del names[name]
    names["__file__"] = script
    exec(compile(tree, script, "exec"), names)


_main()
