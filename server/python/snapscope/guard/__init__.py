"""Holds tests to a limit of GPU memory: the pytest plugin, with the mark `gpu_memory`.

A marked test is replaced by an item that runs `snapscope run -- python -m pytest TEST`; the process sends its reports
back, and `snapscope diagnose` judges its snapshot.

Invariant: marks that skip or expect failures are evaluated on the virtual GPU, no size is computed in Python, and a
failure of the test is reported as it is.
"""
