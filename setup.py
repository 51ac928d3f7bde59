"""Names the packages; everything else stands in pyproject.toml. Beam's --setup_file asks for this file."""

from setuptools import setup

setup(
    packages=[
        "schemas",
        "models",
        "models.layers",
        "models.losses",
        "models.theory",
        "components",
        "components.evaluator",
        "components.example_validator",
        "components.import_schema_gen",
        "components.lexical_baseline",
        "components.pusher",
        "components.trainer",
        "components.transform",
        "components.tuner",
        "components.wikiclir_example_gen",
        "pipeline",
        "pipeline.experiment",
        "pipeline.report",
    ],
    package_data={"pipeline.report": ["page.html.j2"], "schemas": ["schema.pbtxt"]},
)
