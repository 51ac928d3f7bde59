"""Makes Beam's in-process runner the default of all pipelines.

From version 2.68 Beam would download and start a program, Prism, instead. Every module that makes a pipeline imports
this one first.
"""

from apache_beam.options.pipeline_options import StandardOptions

StandardOptions.DEFAULT_RUNNER = "apache_beam.runners.portability.fn_api_runner.fn_runner.FnApiRunner"
