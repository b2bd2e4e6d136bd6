"""Whether CPython's own pickler writes these pickles byte for byte.

usage: python3 repickle.py FILE...

Exits with the first difference.
"""

import pickle
import sys


def check(path):
    data = open(path, "rb").read()
    again = pickle.dumps(pickle.loads(data), protocol=data[1])
    if again == data:
        return
    at = next((at for at, (a, b) in enumerate(zip(data, again)) if a != b), min(len(data), len(again)))
    around = slice(max(at - 20, 0), at + 20)
    sys.exit(f"{path}: byte {at} of {len(data)}: {data[around]} but CPython writes {again[around]}")


if __name__ == "__main__":
    for path in sys.argv[1:]:
        check(path)
