"""``python -m loopx_repo_health``."""

from __future__ import annotations

from loopx_repo_health.cli import main

raise SystemExit(main())
