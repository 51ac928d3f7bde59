"""The paper's Figure 2: each loss over the score."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from components.training_report.svg import Picture, draw, line_style, share_legend
from experiments.experiment import Row
from experiments.report.names import value_name
from models.losses.make_loss import make_loss
from models.losses.ranking_loss import PointwiseLoss
from models.settings import LossSettings
from schemas.grade_names import grade_name

_SCORES = np.linspace(-1, 1, 201, dtype=np.float32)


def loss_figure(rows: Sequence[Row]) -> Picture | None:
    """The losses that the rows were trained with, a panel for each grade.

    Returns:
      None where no row has finished, or none has a loss of single documents: a loss of whole lists has no such curve.
    """
    losses = {}
    for row in rows:
        for cell in row.done[:1]:
            settings = LossSettings(name=cell.setting("loss.name"), theta=cell.thresholds)
            loss = make_loss(settings)
            if isinstance(loss, PointwiseLoss):
                losses[f"{value_name(settings.name)}, θ = ({', '.join(f'{one:.2g}' for one in loss.theta)})"] = loss
                grades = cell.setting("data.top_grade") + 1
    if not losses:
        return None

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, grades, sharey=True)
        for grade, panel in enumerate(panels):
            for place, (label, loss) in enumerate(losses.items()):
                # Lists of one document: the mean over a list is the document's loss.
                values = loss(tf.fill([len(_SCORES), 1], float(grade)), _SCORES[:, None]).numpy()
                panel.plot(_SCORES, values, label=label, **{**line_style(place), "markevery": (place * 5, 40)})
            panel.set(title=grade_name(grade, grades - 1), xlabel="score")
        panels[0].set_ylabel("loss")
        share_legend(figure, panels[0])

    return draw(
        "figure-2",
        "Figure 2. The losses over a document's score, for each grade",
        "Computed by the losses that the models were trained with. Where thresholds are learned, they are those of the "
        "row's first finished seed.",
        (12, 3.8),
        paint,
    )
