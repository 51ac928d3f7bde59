"""Beam's runner inside this process, for each pipeline that names none.

Beam from 2.68 on would look for Prism instead, a program that it fetches from the network and starts. Whoever makes a
pipeline imports this module first.
"""

from apache_beam.options.pipeline_options import StandardOptions

StandardOptions.DEFAULT_RUNNER = "apache_beam.runners.portability.fn_api_runner.fn_runner.FnApiRunner"
