"""The paper's numbers: what a slip of the pen would break."""

from experiments.report.published import PUBLISHED


def test_every_language_has_the_four_losses_and_the_two_other_encoders() -> None:
    for rows in PUBLISHED.values():
        assert [(row.loss, row.encoder) for row in rows] == [
            ("sosl", "mean"),
            ("three_part_l2", "mean"),
            ("mse", "mean"),
            ("proportional_odds", "mean"),
            ("sosl", "cnn"),
            ("sosl", "lstm"),
        ]


def test_metrics_keep_the_order_that_their_definitions_force() -> None:
    for rows in PUBLISHED.values():
        for row in rows:
            metrics = row.metrics
            # An MR document at rank 1 stands among the first five, and is the first relevant one.
            assert metrics["p_mr_1"] < metrics["mrr_mr"] < metrics["mrr_r"] < 1
            assert metrics["p_mr_1"] < metrics["recall_mr_5"] < 1


def test_sosl_with_average_pooling_is_best_as_the_paper_says() -> None:
    # "In all languages and all metrics": but for P_r@5 of Italian, and of Swahili, in its own Table 2.
    better = {
        (language, row.loss, metric)
        for language, (sosl, *others) in PUBLISHED.items()
        for row in others
        for metric, value in row.metrics.items()
        if value > sosl.metrics[metric]
    }
    assert better == {(language, loss, "p_r_5") for language in ("it", "sw") for loss in ("mse", "proportional_odds")}
