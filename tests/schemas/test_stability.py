"""The content of `stability.json`."""

import json

from schemas.stability import Stability, Theorem3

STABILITY = Stability(
    gradient_bound=2.0,
    paper_gradient_bound=None,
    largest_score_gradient=0.1,
    largest_score_gradient_plain_cosine=12.5,
    clipped_share=0.0,
    loss_lipschitz=3.4,
    loss_smoothness=2.0,
    theorem_3=Theorem3(
        bound=123.4,
        largest_loss=2.89,
        beta=0.5,
        lipschitz=6.8,
        smoothness=16.0,
        pairs=1000,
        steps=100,
        step_constant=0.1,
        delta=0.05,
        sentence="It says nothing.",
        caveat="A yardstick.",
    ),
    largest_score=0.64,
    unreachable=("no score exceeds 0.640",),
)


def test_a_written_file_reads_back_the_same():
    text = STABILITY.to_json()
    assert Stability.from_json(text) == STABILITY
    assert json.loads(text)["theorem_3"]["bound"] == 123.4  # the names that others read
