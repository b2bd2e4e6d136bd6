"""A store of one process, which answers for the ranks that would share it."""

import datetime
import os
import re

# What NCCL's ranks agree on; the stand-in reads none of it.
_IDENTIFIER = bytes(128)
_OF_NCCL = re.compile(r"(^|/)(cuda|nccl)/")
_NUMBER = re.compile(r"\d+")


class Answers:
    """The keys that this rank has set, and what is answered for those of others."""

    def __init__(self, notes):
        self.notes = notes
        self.values = {}
        self.stores = []
        self.world = int(os.environ.get("WORLD_SIZE", "1"))

    def find(self, key):
        """Returns the value of a key, or what another rank would have set; `None` if nobody can know it."""
        if key in self.values:
            return self.values[key]
        if _OF_NCCL.search(key):
            return _IDENTIFIER
        # Ranks have their numbers in their keys.
        shape = _NUMBER.sub("#", key)
        return next((value for own, value in self.values.items() if _NUMBER.sub("#", own) == shape), None)

    def get(self, key):
        value = self.find(key)
        if value is None:
            sentence = (
                f"rank {os.environ.get('RANK')} asks the store for {key!r}, which a rank sets that does not run: "
                "run it without --world, or let each rank set that key with its number"
            )
            self.notes.append(sentence)
            raise RuntimeError(sentence)
        return value

    def add(self, key, amount):
        """Counts as if every rank had added the same."""
        value = int(self.values.get(key, b"0")) + amount * self.world
        self.values[key] = str(value).encode()
        return value


def make_store(base, answers):
    """Returns a class that stands in for those of stores which ranks share, whatever their arguments."""

    class Store(base):
        host, port, libuvBackend = "127.0.0.1", 0, True

        def __init__(self, *args, **kwargs):
            super().__init__()
            # C++ finds these methods only while the object of Python lives.
            answers.stores.append(self)

        def set(self, key, value):
            answers.values[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            return answers.get(key)

        def compare_set(self, key, expected, desired):
            value = answers.values.get(key)
            if value is None or value == _bytes(expected):
                answers.values[key] = value = _bytes(desired)
            return value

        def add(self, key, amount):
            return answers.add(key, amount)

        def append(self, key, value):
            answers.values[key] = answers.values.get(key, b"") + _bytes(value)

        def multi_get(self, keys):
            return [answers.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def wait(self, keys, timeout=None):
            """Returns at once: whoever would set the keys is assumed to have set them."""

        def check(self, keys):
            return all(key in answers.values for key in keys)

        def delete_key(self, key):
            return answers.values.pop(key, None) is not None

        def num_keys(self):
            return len(answers.values)

        # C++ asks by these names.
        getNumKeys, deleteKey = num_keys, delete_key

        def set_timeout(self, timeout):
            """Nothing waits."""

        def has_extended_api(self):
            return True

        def clone(self):
            return self

        @property
        def timeout(self):
            return datetime.timedelta(minutes=5)

    return Store


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)
