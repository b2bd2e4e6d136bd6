"""The part of `snapscope run` that lives in the Python processes of the script.

It is part of the binary and is put on `PYTHONPATH`. It waits for `torch`, records from the first call of CUDA, counts
optimizer steps, and writes snapshots.

Invariant: C++ code sees the tensors that it would see without the hook, and no stack shows the hook. The same run of
one process gives the same events. An error of the hook never becomes an error of the script.
"""
