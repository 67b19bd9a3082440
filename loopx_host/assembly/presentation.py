"""The public presentation seam: the private-material classifier and the view that core knows; re-exports only.

A package that shows something asks here whether it may be shown, and copies no rule of it.
"""

from __future__ import annotations

from loopx_host.core.private_material import PATH_KINDS
from loopx_host.core.private_material import findings as private_findings
from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from loopx_host.documents.sections_view import section, sections_view

__all__ = ["PATH_KINDS", "SECTIONS_VIEW", "private_findings", "section", "sections_view"]
