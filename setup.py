"""Finds the packages; everything else stands in pyproject.toml. Beam's --setup_file asks for this file."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["components*", "models*", "pipeline*", "schemas*", "smooth_clir*"]),
        "smooth_clir.sample",
    ],
    package_dir={"smooth_clir.sample": "data/sample"},
    package_data={
        "smooth_clir.sample": ["wiki_en.queries", "wiki_fr.documents", "en2fr.rel"],
        "schemas": ["schema.pbtxt"],
        "smooth_clir.experiments": ["published/*.yaml"],
        "smooth_clir.retrieval": ["exports/vespa/schemas/clir.sd", "exports/vespa/services.xml"],
        "smooth_clir.serving": [
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
