"""The training loop under a `tf.distribute` strategy: steps, checkpoints, logs, devices and workers."""
