"""The random numbers of the device: its generator is a function of seed and offset, and the host can compute it.

PyTorch's kernels give each thread a subsequence of Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
1, 2, 3", 2011), from which it draws four numbers at a time; `DistributionTemplates.h` says which element gets which.
"""

_WORD = (1 << 32) - 1
_BLOCK = 256
# Numbers that a thread draws at a time.
_DRAWN = 4


def integers(torch, generator, numel, low, high):
    """Returns what `randint` has just drawn, flat; None for ranges for which it draws longer numbers."""
    if not 0 < high - low < 1 << 28:
        return None
    return _words(torch, generator, numel).remainder(high - low) + low


def fractions(torch, generator, numel):
    """Returns what `rand` has just drawn in single precision, flat."""
    numbers = (_words(torch, generator, numel).float() + 0.5) / (1 << 32)
    return torch.where(numbers == 1, 0, numbers)


def _words(torch, generator, numel):
    """Returns the words of 32 bits of a kernel that has just drawn one for each element, as 64-bit integers."""
    properties = torch.cuda.get_device_properties(generator.device)
    most_blocks = properties.multi_processor_count * (properties.max_threads_per_multi_processor // _BLOCK)
    threads = min(most_blocks, -(-numel // _BLOCK)) * _BLOCK
    rounds = -(-numel // (threads * _DRAWN))
    # The offset counts in numbers, and has gone on by those of one thread.
    first = generator.get_offset() // _DRAWN - rounds
    threads = torch.arange(min(threads, numel), device="cpu")
    words = [_philox(torch, generator.initial_seed(), first + at, threads) for at in range(rounds)]
    return torch.stack([word for drawn in words for word in drawn]).flatten()[:numel]


def _philox(torch, seed, counter, subsequence):
    """Returns the four words of each subsequence at a counter."""
    words = [torch.full_like(subsequence, counter & _WORD), torch.full_like(subsequence, counter >> 32)]
    words += [subsequence, torch.zeros_like(subsequence)]
    keys = [seed & _WORD, seed >> 32 & _WORD]
    for _ in range(10):
        # The products wrap at 64 bits, as they should.
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [
            second >> 32 & _WORD ^ words[1] ^ keys[0],
            second & _WORD,
            first >> 32 & _WORD ^ words[3] ^ keys[1],
            first & _WORD,
        ]
        keys = [keys[0] + 0x9E3779B9 & _WORD, keys[1] + 0xBB67AE85 & _WORD]
    return words
