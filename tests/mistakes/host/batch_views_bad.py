"""Each step keeps one row of its batch, as a view."""

import time

ROW = 4096
ROWS = 1024


def load(step):
    return memoryview(bytearray(bytes([step % 255 + 1]) * (ROW * ROWS)))


def main():
    hardest = []
    for step in range(60):
        batch = load(step)
        row = step % ROWS
        # The view keeps the buffer of the whole batch, as array[row] of NumPy does.
        hardest.append(batch[row * ROW : (row + 1) * ROW])
        time.sleep(0.04)
    print("kept", sum(len(row) for row in hardest), "bytes")


main()
