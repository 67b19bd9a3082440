"""What a provider written in Python is served with: its standard streams, one request in and one answer out."""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.process.descriptors import write_all
from loopx_host.authoring.serving import answer
from loopx_host.core.limits import REQUEST_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.authoring.serving import Operation, View


def serve_operations(
    operations: Mapping[str, Operation],
    *,
    manifest_id: str,
    views: Mapping[str, View] | None = None,
    descriptors: tuple[int, int] = (0, 1),
    environment: Mapping[str, str] | None = None,
) -> int:
    """Serve the one request on standard input and return the exit status, 0 whenever there was an answer.

    `operations` maps operation ids to functions of (input, references). The envelope must be exactly the one that
    belongs to this request, to the extension `manifest_id` and to the revision that the host says in the variables
    LOOPX_EXPECTED_ID, LOOPX_EXPECTED_REVISION and LOOPX_EXPECTED_REQUEST_SHA256 (requirement X10); a request without
    one, and a process without them, is refused. They are no credential. A failure is answered with ``ok: false``, its
    code and one sentence.

    `views` maps ids of presentation surfaces to functions that make their view: they serve the request of
    ``loopx extension publish-projection``, an object whose ``publish`` names the surface. `descriptors` are those to
    read and to write, and `environment` the variables, where a test has others than those of the process.
    """
    source, sink = descriptors
    try:
        data = bounded.read_bounded(source, REQUEST_BYTES)
    except bounded.TooLargeError:
        data = None
    told = os.environ if environment is None else environment
    write_all(sink, answer(data, operations, manifest_id=manifest_id, environment=told, views=views))
    return 0
