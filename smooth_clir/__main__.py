"""`python -m smooth_clir` is `clir`."""

from smooth_clir.command import main

if __name__ == "__main__":
    main()
