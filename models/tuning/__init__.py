"""The search for epsilon and theta by short trainings."""
