"""The paper's Figure 1: the smooth cosine's derivative over the plane."""

from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from components.training_report.svg import Picture, draw
from models.layers.smooth_cosine import SmoothCosine

EPSILONS: Final = (0.05, 0.2, 0.5, 1.0)
_LIMIT = 2.0
_CELLS = 101


def score_derivative(
    epsilon: float, x1: npt.NDArray[np.float32], x2: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """The derivative in x1 of the smooth cosine of (x1, x2) and (1, 1): float [...] of the arguments' shape."""
    vectors = tf.constant(np.stack([x1, x2], axis=-1).reshape(-1, 1, 2))
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        scores = SmoothCosine(epsilon)(tf.ones([len(vectors), 2]), vectors)
    derivative: npt.NDArray[np.float32] = tape.gradient(scores, vectors).numpy()[:, 0, 0].reshape(x1.shape)
    return derivative


def similarity_figure() -> Picture:
    """Heat maps of the derivative, one for each epsilon, on one scale."""
    axis = np.linspace(-_LIMIT, _LIMIT, _CELLS, dtype=np.float32)
    x1, x2 = np.meshgrid(axis, axis)
    maps = {epsilon: score_derivative(epsilon, x1, x2) for epsilon in EPSILONS}
    highest = max(np.abs(values).max() for values in maps.values())

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(maps), sharex=True, sharey=True)
        for panel, (epsilon, values) in zip(panels, maps.items(), strict=True):
            mesh = panel.pcolormesh(
                x1, x2, values, cmap="RdBu_r", norm=SymLogNorm(0.1, vmin=-highest, vmax=highest), rasterized=True
            )
            panel.set(title=f"ε = {epsilon:g}, largest {np.abs(values).max():.2f}", xlabel="x₁", aspect="equal")
            panel.grid(False)
        panels[0].set_ylabel("x₂")
        bar = figure.colorbar(mesh, ax=panels, shrink=0.7, ticks=[-10, -1, -0.1, 0, 0.1, 1, 10], format="%g")
        bar.set_label("∂r / ∂x₁")

    return draw(
        "figure-1",
        "Figure 1. The derivative in x₁ of the smooth cosine r of (x₁, x₂) and (1, 1), for four values of ε",
        "By automatic differentiation of the layer that the models use. The colour scale is linear within 0.1 of zero "
        "and logarithmic beyond. The smaller ε, the steeper the score of short vectors; at ε = 0 nothing bounds it.",
        (12, 3.6),
        paint,
    )
