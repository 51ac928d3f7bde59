"""The option `--feedback`."""

import math
from typing import Final

import click


def _number(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if math.isnan(value):  # which lies in any range, for click
        raise click.BadParameter("must be a number; got nan.")
    return value


feedback_option: Final = click.option(
    "--feedback",
    metavar="GAIN",
    default=0.0,
    type=click.FloatRange(0, 1e6),
    callback=_number,
    help="Rank in a second pass by how like documents are to the best two, too; 2 to 12 are usual, 0 is none.",
)
