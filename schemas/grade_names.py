"""What grades are called."""


def grade_name(grade: int, top_grade: int) -> str:
    """MR for the top grade, NR for 0, SR between.

    Example:
      >>> [grade_name(grade, 2) for grade in range(3)], grade_name(1, 3)
      (['NR', 'SR', 'MR'], 'SR, grade 1')
    """
    return "MR" if grade == top_grade else "NR" if grade == 0 else "SR" if top_grade == 2 else f"SR, grade {grade}"
