"""A cache with a limit keeps the features of the latest samples."""

import functools
import time


@functools.lru_cache(maxsize=64)
def features(sample):
    return bytearray(bytes([sample % 255 + 1]) * (256 << 10))


def main():
    for step in range(60):
        for row in range(16):
            features(step * 16 + row)
        time.sleep(0.04)
    print(features.cache_info())


main()
