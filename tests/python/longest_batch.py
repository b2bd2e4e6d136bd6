"""The largest number of items that one APPENDS of a pickle adds to a list.

usage: python3 longest_batch.py FILE
"""

import pickletools
import sys

longest = 0
counts = []  # values above each mark
with open(sys.argv[1], "rb") as file:
    for opcode, _, _ in pickletools.genops(file):
        if opcode.name == "MARK":
            counts.append(0)
        elif opcode.name in ("APPENDS", "SETITEMS"):
            count = counts.pop()
            if opcode.name == "APPENDS":
                longest = max(longest, count)
        elif counts:
            counts[-1] += len(opcode.stack_after) - len(opcode.stack_before)
print(longest)
