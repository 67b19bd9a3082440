"""``python -m loopx_host``: the same program as the console script."""

from loopx_host.entrypoint import main

if __name__ == "__main__":
    main()
