"""What CPython's pickle.load takes for a file.

usage: python3 load_time.py FILE

Prints seconds, the same seconds again, and the highest resident memory in bytes. The garbage collector is off: it finds
nothing here, and looks at every object again and again.
"""

import gc
import pickle
import resource
import sys
import time

gc.disable()
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
seconds = time.perf_counter() - start
peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(seconds, seconds, peak_bytes)
