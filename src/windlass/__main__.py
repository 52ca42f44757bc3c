"""`python -m windlass`: the same as the `windlass` command.

Must not hold logic.
"""

from __future__ import annotations

from windlass.cli.main import main

if __name__ == "__main__":
    main()
