"""Holds tests to a limit of GPU memory: the pytest plugin, with the mark `gpu_memory`."""
