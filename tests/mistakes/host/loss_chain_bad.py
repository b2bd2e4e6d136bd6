"""The running loss refers to the loss of every step, and each loss to what it was computed from."""

import time


class Loss:
    """Number with a graph behind it, as a tensor that requires gradients."""

    def __init__(self, value, parents):
        self.value = value
        self.parents = parents

    def __add__(self, other):
        return Loss(self.value + other.value, (self, other))


def forward(step):
    activations = bytearray(bytes([step % 255 + 1]) * (4 << 20))
    return Loss(1.0 / (step + 1), (activations,))


def main():
    running = Loss(0.0, ())
    for step in range(60):
        running = running + forward(step)
        time.sleep(0.04)
    print("mean", running.value / 60)


main()
