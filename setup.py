"""Names the packages; everything else stands in pyproject.toml. Beam's --setup_file asks for this file."""

import platform
import sys

from setuptools import setup

library, version = platform.libc_ver()
if sys.version_info >= (3, 12) and library == "glibc" and tuple(map(int, version.split("."))) < (2, 39):
    # Otherwise the installer tries for minutes, and ends with five kilobytes about its conflicts.
    sys.exit(
        "smooth-clir needs glibc 2.39 for Python 3.12 and 3.13, which Debian 13 and Ubuntu 24.04 have; this machine "
        f"has glibc {version}. Take Python 3.10."
    )

setup(
    packages=[
        "cli",
        "components",
        "components.collection_gen",
        "components.corpus_indexer",
        "components.evaluator",
        "components.index_pusher",
        "components.lexicon_gen",
        "components.pusher",
        "components.rivals",
        "components.search_evaluator",
        "components.text_vector_gen",
        "components.trainer",
        "components.training_report",
        "components.transform",
        "components.translation_gen",
        "components.wikiclir_example_gen",
        "components.wikipedia_gen",
        "experiments",
        "experiments.report",
        "models",
        "models.encoders",
        "models.evaluation",
        "models.exported",
        "models.layers",
        "models.lexicon",
        "models.lists",
        "models.losses",
        "models.objectives",
        "models.optimizers",
        "models.rankers",
        "models.retrieval",
        "models.rivals",
        "models.texts",
        "models.theory",
        "models.training",
        "models.translators",
        "models.tuning",
        "pipeline",
        "pipeline.conversion",
        "pipeline.estimate",
        "pipeline.kubeflow",
        "pipeline.wikipedia",
        "schemas",
        "serving",
        "serving.other_engines",
        "smooth_clir",
        "smooth_clir.sample",
        "wikipedia",
        "wikipedia.collection",
        "wikipedia.dumps",
        "wikipedia.wikitext",
    ],
    package_dir={"smooth_clir.sample": "data/sample"},
    package_data={
        "smooth_clir.sample": ["wiki_en.queries", "wiki_fr.documents", "en2fr.rel"],
        "schemas": ["schema.pbtxt"],
        "serving": [
            "page/index.html",
            "page/page.css",
            "page/page.js",
            "tf_serving/batching.config",
            "tf_serving/compose.yaml",
            "tf_serving/kubernetes.yaml",
            "tf_serving/kustomization.yaml",
            "tf_serving/models.config",
            "tf_serving/monitoring.config",
        ],
    },
)
