"""Gate: whether a model may be pushed, judged anew on every run by its metrics and by what is pushed now."""
