"""Trainings of the corpus, which were recorded on another stub: the same programs must give the same events.

Only the cards' addresses and the times differ; actions, sizes, segments and their order must not.
"""

import torch
import torchvision
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.profiler import record_function

import snapshots
from feature import events, feature, start_recording
from virtual import ROOT

CORPUS = ROOT / "tests" / "data" / "snapshots"


def assert_as_recorded(name: str) -> None:
    """Compares what was recorded with a file of the corpus."""
    recorded, expected = events(), snapshots.events(snapshots.load(CORPUS / f"{name}.pickle.gz"))
    different = snapshots.first_difference(recorded, expected)
    assert different is None, (different, recorded[different : different + 3], expected[different : different + 3])


@feature(cards="h100-80gb")
def gpt2_trains_as_in_the_corpus() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    # Built on the device, its head leaves a free block behind when it is tied to the embedding.
    with torch.device("cuda"):
        model = GPT2LMHeadModel(GPT2Config())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    start_recording()
    for step in range(3):
        with record_function(f"step{step}"):
            tokens = torch.zeros(4, 1024, dtype=torch.long).cuda()
            output = model(input_ids=tokens, labels=tokens)
            loss = output.loss
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            del output
    assert_as_recorded("virtual-py-hf-gpt2-h100")


@feature(cards="h100-80gb")
def resnet50_trains_as_in_the_corpus() -> None:
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    start_recording()
    for _ in range(3):
        images = torch.zeros(64, 3, 224, 224).cuda()
        labels = torch.zeros(64, dtype=torch.long).cuda()
        loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert_as_recorded("virtual-py-resnet50-h100")
