"""Names the packages; everything else stands in pyproject.toml. Beam's --setup_file asks for this file."""

from setuptools import setup

setup(
    packages=[
        "cli",
        "components",
        "components.collection_gen",
        "components.evaluator",
        "components.example_validator",
        "components.gate",
        "components.lexical_baseline",
        "components.lexicon_gen",
        "components.pusher",
        "components.trained_baseline",
        "components.trainer",
        "components.training_report",
        "components.transform",
        "components.tuner",
        "components.wikiclir_example_gen",
        "experiments",
        "experiments.report",
        "models",
        "models.layers",
        "models.lexicon",
        "models.losses",
        "models.theory",
        "pipeline",
        "pipeline.conversion",
        "schemas",
    ],
    package_data={"experiments.report": ["page.html.j2"], "schemas": ["schema.pbtxt"]},
)
