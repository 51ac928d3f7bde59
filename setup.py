"""Finds the packages; everything else stands in pyproject.toml. Beam's --setup_file asks for this file."""

import platform
import sys

from setuptools import find_packages, setup

library, version = platform.libc_ver()
if sys.version_info >= (3, 12) and library == "glibc" and tuple(map(int, version.split("."))) < (2, 39):
    # Otherwise the installer tries for minutes, and ends with five kilobytes about its conflicts.
    sys.exit(
        "smooth-clir needs glibc 2.39 for Python 3.12 and 3.13, which Debian 13 and Ubuntu 24.04 have; this machine "
        f"has glibc {version}. Take Python 3.10."
    )

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
