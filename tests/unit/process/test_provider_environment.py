"""The variables of a provider: what only the host says is never the caller's, whatever a manifest declares."""

from __future__ import annotations

import pytest

from loopx_host.adapters.process.environment import provider_environment
from loopx_host.lifecycle.goals.envelope import EXPECTED_ID, EXPECTED_REQUEST, EXPECTED_REVISION


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    "name", [EXPECTED_ID, EXPECTED_REVISION, EXPECTED_REQUEST, "PATH", "TMPDIR", "PYTHONPYCACHEPREFIX"]
)
def test_a_run_that_the_host_tells_nothing_is_told_nothing_by_its_caller(name: str) -> None:
    passed = provider_environment({name: "/caller", "OWN": "1"}, [name, "OWN"], {}, ["/proved"])

    assert passed == {"PATH": "/proved", "OWN": "1"}
