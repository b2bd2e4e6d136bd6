"""Starts the hook of `snapscope record`: the package reads its options from the environment when it is imported."""


def begin(folder):
    """Imports the package, which lies in this folder."""
    import snapscope  # noqa: F401
