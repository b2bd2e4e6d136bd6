"""Random plain data, pickled in every protocol.

usage: python3 random_values.py SEED COUNT shared|unshared

Prints a line for each pickle: protocol, pickle in hexadecimal, canonical text of the value.
`tests/cpython_pickle.rs` says what the canonical text is.
"""

import pickle
import random
import struct
import sys

EDGES = [0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), 2**64]
FLOATS = [0.0, -0.0, 1.5, -2.25e300, 5e-324, float("inf"), float("-inf"), float("nan"), 0.1]
ALPHABET = "aZ09 _'\"\\\n\r\t\x00\x7f\x85éß€\u2028\ud7ff\ue000\uffff𝄞😀"
# The largest part that is used again: shared parts are written out in full, and that has a bound.
LARGEST_SHARED = 20


class Source:
    def __init__(self, seed, shared, with_bytes):
        self.random = random.Random(seed)
        self.shared = shared
        self.with_bytes = with_bytes
        self.made = []

    def value(self, depth=0):
        """A value and the number of values in it."""
        if self.shared and self.made and self.random.random() < 0.25:
            return self.random.choice(self.made)
        kinds = ["atom"] * 3 + ["list", "tuple", "dict"] * (depth < 4)
        kind = self.random.choice(kinds if depth else kinds[3:])
        made = getattr(self, kind)(depth)
        if made[1] <= LARGEST_SHARED:
            self.made.append(made)
        return made

    def atom(self, _depth):
        kinds = [self.integer, self.integer, self.text, self.text, self.number, self.constant]
        return self.random.choice(kinds + [self.binary] * self.with_bytes)(), 1

    def integer(self):
        big = self.random.getrandbits(self.random.choice([8, 16, 31, 33, 63, 64, 65, 200, 2100]))
        return self.random.choice([self.random.choice(EDGES), big, -big])

    def text(self):
        length = self.random.choice([0, 1, 2, 3, 7, 20, 255, 256, 300] + [70_000] * (self.random.random() < 0.02))
        return "".join(self.random.choice(ALPHABET) for _ in range(length))

    def binary(self):
        return self.random.randbytes(self.random.choice([0, 1, 255, 256, 300]))

    def number(self):
        return self.random.choice([self.random.choice(FLOATS), self.random.gauss(0, 1e6)])

    def constant(self):
        return self.random.choice([None, True, False])

    def items(self, depth):
        length = self.random.choice([0, 1, 2, 3, 4, 6] + [2500] * (depth == 3 and self.random.random() < 0.02))
        return [self.value(depth + 1) for _ in range(length)]

    def list(self, depth):
        items = self.items(depth)
        return [value for value, _ in items], 1 + sum(size for _, size in items)

    def tuple(self, depth):
        value, size = self.list(depth)
        return tuple(value), size

    def dict(self, depth):
        items = self.items(depth)
        pairs = {self.key(): value for value, _ in items}
        return pairs, 1 + len(items) + sum(size for _, size in items)

    def key(self):
        return self.random.choice([self.text, self.text, self.integer, lambda: (self.integer(), self.text())])()


def canonical(value):
    if value is None or isinstance(value, bool):
        return str(value)[0]
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "fnan" if value != value else "f" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, bytes):
        return "b" + value.hex()
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{canonical(key)}:{canonical(item)}" for key, item in value.items())) + "}"
    items = ",".join(map(canonical, value))
    return f"[{items}]" if isinstance(value, list) else f"({items})"


def main(seed, count, shared):
    for number in range(count):
        for protocol in range(6):
            # Bytes have an opcode from protocol 3 on; before, they are a call of a codec.
            source = Source(seed * 1_000_003 + number, shared, protocol >= 3)
            value, _ = source.value()
            print(protocol, pickle.dumps(value, protocol).hex(), canonical(value))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "shared")
