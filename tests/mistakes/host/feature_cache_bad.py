"""A cache without a limit keeps the features of every sample."""

import functools
import time


@functools.cache
def features(sample):
    return bytearray(bytes([sample % 255 + 1]) * (256 << 10))


def main():
    for step in range(60):
        for row in range(16):
            features(step * 16 + row)
        time.sleep(0.04)
    print(features.cache_info())


main()
