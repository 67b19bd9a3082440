"""What can be said of the modules for macOS and Windows without running there: the text and the layouts they make.

No test here shows that either system does what is asked of it; their modules list what has to be tried there.
"""

from __future__ import annotations

import ctypes
import os.path
import subprocess
import sys
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.adapters.process import untested_windows as windows
from loopx_host.adapters.process.untested_macos import SYSTEM_READS, argv_of, profile_of
from loopx_host.lifecycle.extensions.process import Grants

PRIVATE = "/private/var/folders/run"
SYSTEM = ["/usr/lib"]


class Text(str):
    """A string literal of a profile, apart from a bare word."""

    __slots__ = ()


def parsed(profile: str) -> list[list[object]]:
    """Read a profile as a Scheme reader does, known escapes, comments and all; unbalanced text is a ValueError."""
    stack: list[list[object]] = [[]]
    at = 0
    while at < len(profile):
        char = profile[at]
        at += 1
        if char == "(":
            stack.append([])
        elif char == ")":
            form = stack.pop()
            stack[-1].append(form)
        elif char == '"':
            text, at = _text(profile, at)
            stack[-1].append(text)
        elif char == ";":
            at = profile.index("\n", at)
        elif not char.isspace():
            end = at
            while end < len(profile) and not profile[end].isspace() and profile[end] not in '()";':
                end += 1
            stack[-1].append(profile[at - 1 : end])
            at = end
    (forms,) = stack
    return [form if isinstance(form, list) else [form] for form in forms]


def _text(profile: str, at: int) -> tuple[Text, int]:
    read: list[str] = []
    while profile[at] != '"':
        if profile[at] == "\\":
            at += 1
            # Escapes that a reader may know: none of them may come out of a path.
            assert profile[at] in '"\\', f"an escape that means something: {profile[at]!r}"
        read.append(profile[at])
        at += 1
    return Text("".join(read)), at + 1


def shape(form: object) -> object:
    """Return `form` with every string literal replaced by the same one."""
    if isinstance(form, list):
        return [shape(part) for part in form]
    return Text("…") if isinstance(form, Text) else form


def texts(form: object) -> list[str]:
    """Return the string literals of `form`, in order."""
    if isinstance(form, list):
        return [text for part in form for text in texts(part)]
    return [form] if isinstance(form, Text) else []


def allowed(profile: str, operation: str) -> list[list[object]]:
    """Return the filters of every allowing rule that names `operation`."""
    found: list[list[object]] = []
    for form in parsed(profile):
        operations = [part for part in form[1:] if not isinstance(part, list)]
        if form[0] == "allow" and operation in operations:
            found.append([part for part in form[1:] if isinstance(part, list)])
    return found


def operations_allowed(profile: str) -> set[str]:
    """Return every operation that some rule allows."""
    rules = [form[1:] for form in parsed(profile) if form[0] == "allow"]
    return {part for rule in rules for part in rule if isinstance(part, str)}


def all_kinds(private: str, read: str, listed: str, reference: str, written: str) -> str:
    """Return a profile that uses every way by which a path gets into one."""
    grants = Grants(
        [read],
        [listed],
        permissions=["fs.read:in", "fs.write:out"],
        references={"in": reference, "out": written},
    )
    return profile_of(private, grants, SYSTEM)


# Mostly what means something to a reader of the profile: a run of ordinary text proves little.
FRAGMENTS = [
    '"',
    "\\",
    "\n",
    "\r",
    "(",
    ")",
    ";",
    "#|",
    "|#",
    "'",
    "`",
    "\\x22",
    "\\042",
    '"))(allow default)(x (y "',
]
HOSTILE = st.lists(
    st.sampled_from(FRAGMENTS) | st.sampled_from(FRAGMENTS) | st.characters(exclude_characters="/\0"),
    min_size=1,
    max_size=12,
).map("".join)
PATHS = HOSTILE.map(lambda text: f"/{text}").filter(lambda path: os.path.normpath(path) == path)
BREAKOUT = '/a"))\n(allow file-write* (subpath "/"))\n(allow file-read* (subpath "/b'


@given(st.tuples(PATHS, PATHS, PATHS, PATHS, PATHS))
def test_no_path_adds_or_changes_a_rule(paths: tuple[str, str, str, str, str]) -> None:
    plain = all_kinds("/p", "/r", "/l", "/i", "/o")

    hostile = all_kinds(*paths)

    assert shape(parsed(hostile)) == shape(parsed(plain))


@given(st.tuples(PATHS, PATHS, PATHS, PATHS, PATHS))
def test_every_path_reads_back_as_it_was_given(paths: tuple[str, str, str, str, str]) -> None:
    private, read, listed, reference, written = paths

    profile = all_kinds(*paths)

    (files,) = allowed(profile, "file-read*")
    (writes,) = allowed(profile, "file-write*")
    assert texts(files) == ["/usr/lib", read, reference, private, written, listed]
    assert texts(writes) == [private, written]


def test_a_path_that_closes_the_rule_and_opens_another_stays_a_path() -> None:
    plain = profile_of("/a/x/y/z", Grants(), SYSTEM)

    profile = profile_of(BREAKOUT, Grants(), SYSTEM)

    assert len(parsed(profile)) == len(parsed(plain))
    assert allowed(profile, "file-write*") == [[["subpath", BREAKOUT]]]


@pytest.mark.parametrize("path", ["", "relative", "//two", "/end/", "/a/../b", "/a/./b", "/nul\0", 'x"'])
@pytest.mark.parametrize("place", range(5))
def test_a_path_that_is_not_absolute_and_normal_is_refused(path: str, place: int) -> None:
    paths = ["/p", "/r", "/l", "/i", "/o"]
    paths[place] = path

    with pytest.raises(ValueError, match="path"):
        all_kinds(*paths)


def test_the_root_is_no_private_directory() -> None:
    with pytest.raises(ValueError, match="root"):
        profile_of("/", Grants())


def test_a_profile_denies_by_default_before_it_allows() -> None:
    forms = parsed(profile_of(PRIVATE, Grants()))

    assert forms[:2] == [["version", "1"], ["deny", "default"]]


@pytest.mark.parametrize("operation", ["file-map-executable", "iokit-get-properties", "nvram*", "process-info*"])
def test_what_the_default_leaves_open_is_denied_by_name(operation: str) -> None:
    denials = [form for form in parsed(profile_of(PRIVATE, Grants())) if form[0] == "deny"]

    assert any(operation in form for form in denials)


def test_without_a_permission_nothing_reaches_the_network_or_a_service() -> None:
    profile = profile_of(PRIVATE, Grants(permissions=["net.listen", "net", "net.connect:x", "fs.read:gone"]))

    assert {name for name in operations_allowed(profile) if name.startswith(("network", "mach", "system"))} == set()


def test_net_connect_opens_outbound_and_no_more() -> None:
    with_it = profile_of(PRIVATE, Grants(permissions=["net.connect"]))
    without = profile_of(PRIVATE, Grants())

    assert operations_allowed(with_it) - operations_allowed(without) == {"network-outbound"}


def test_writing_is_allowed_below_the_private_directory_and_to_the_null_device() -> None:
    profile = profile_of(PRIVATE, Grants(["/reads"], ["/lists"]))

    writing = {name for name in operations_allowed(profile) if name.startswith("file-write")}
    assert writing == {"file-write*", "file-write-data"}
    assert allowed(profile, "file-write*") == [[["subpath", PRIVATE]]]
    assert [texts(rule) for rule in allowed(profile, "file-write-data")] == [["/dev/null"]]


def test_fs_write_adds_its_own_reference_to_what_is_written() -> None:
    grants = Grants(permissions=["fs.write:out"], references={"out": "/srv/out", "other": "/srv/other"})

    profile = profile_of(PRIVATE, grants, SYSTEM)

    assert allowed(profile, "file-write*") == [[["subpath", PRIVATE], ["subpath", "/srv/out"]]]


def test_fs_read_adds_nothing_to_what_is_written_or_run() -> None:
    grants = Grants(permissions=["fs.read:in"], references={"in": "/srv/in"})

    profile = profile_of(PRIVATE, grants, SYSTEM)

    assert "/srv/in" in texts(allowed(profile, "file-read*"))
    assert texts(allowed(profile, "file-write*")) == [PRIVATE]
    assert texts(allowed(profile, "process-exec")) == SYSTEM


def test_a_reference_without_its_permission_grants_nothing() -> None:
    grants = Grants(permissions=["fs.read:absent", "fs.read", "fs.other:in"], references={"in": "/srv/in"})

    assert profile_of(PRIVATE, grants) == profile_of(PRIVATE, Grants())


def test_a_listed_directory_shows_its_names_and_not_its_files() -> None:
    profile = profile_of(PRIVATE, Grants(lists=["/srv/names"]), SYSTEM)

    (files,) = allowed(profile, "file-read*")
    assert ["literal", "/srv/names"] in files
    assert texts(files).count("/srv/names") == 1


def test_directories_on_the_way_show_what_they_are_and_nothing_in_them() -> None:
    profile = profile_of("/a/b/c", Grants(), [])

    assert allowed(profile, "file-read-metadata") == [[["literal", "/"], ["literal", "/a"], ["literal", "/a/b"]]]


def test_nothing_runs_from_where_the_process_can_write() -> None:
    grants = Grants(["/srv/package"], permissions=["fs.write:out"], references={"out": "/srv/out"})

    profile = profile_of(PRIVATE, grants, SYSTEM)

    assert texts(allowed(profile, "process-exec")) == ["/usr/lib", "/srv/package"]
    assert texts(allowed(profile, "file-map-executable")) == ["/usr/lib", "/srv/package"]


def test_a_rule_without_a_path_is_left_out_rather_than_allowed_everywhere() -> None:
    profile = profile_of(PRIVATE, Grants(), [])

    assert allowed(profile, "process-exec") == []


def test_attributes_are_refused_after_writing_is_allowed() -> None:
    forms = parsed(profile_of(PRIVATE, Grants()))

    written = next(at for at, form in enumerate(forms) if form[:2] == ["allow", "file-write*"])
    refused = next(at for at, form in enumerate(forms) if form[0] == "deny" and "file-write-mode" in form)
    assert refused > written


def test_no_personal_directory_is_in_the_system_table() -> None:
    assert not [path for path in SYSTEM_READS if path.startswith(("/Users", "/private/var/folders", "/tmp"))]
    assert "/" not in SYSTEM_READS


def test_the_command_is_the_system_program_then_the_profile_then_the_provider() -> None:
    argv = argv_of(["/opt/provider", "-n", "x"], "(version 1)")

    assert argv == ["/usr/bin/sandbox-exec", "-p", "(version 1)", "/opt/provider", "-n", "x"]


@pytest.mark.parametrize("argv", [[], ["-n", "no-network"], ["provider"]])
def test_a_program_that_could_be_an_option_is_refused(argv: list[str]) -> None:
    with pytest.raises(ValueError, match="absolute"):
        argv_of(argv, "(version 1)")


WIDE = pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the documented sizes are those of 64 bits")


@WIDE
@pytest.mark.parametrize(
    ("structure", "size"),
    [
        (windows.BasicLimitInformation, 64),
        (windows.IoCounters, 48),
        (windows.ExtendedLimitInformation, 144),
    ],
)
def test_a_structure_has_its_size_on_64_bits(structure: type[ctypes.Structure], size: int) -> None:
    assert ctypes.sizeof(structure) == size


@WIDE
@pytest.mark.parametrize(
    ("structure", "field", "offset"),
    [
        (windows.BasicLimitInformation, "LimitFlags", 16),
        (windows.BasicLimitInformation, "MinimumWorkingSetSize", 24),
        (windows.BasicLimitInformation, "ActiveProcessLimit", 40),
        (windows.BasicLimitInformation, "Affinity", 48),
        (windows.BasicLimitInformation, "SchedulingClass", 60),
        (windows.IoCounters, "OtherOperationCount", 16),
        (windows.IoCounters, "ReadTransferCount", 24),
        (windows.ExtendedLimitInformation, "IoInfo", 64),
        (windows.ExtendedLimitInformation, "ProcessMemoryLimit", 112),
        (windows.ExtendedLimitInformation, "PeakJobMemoryUsed", 136),
    ],
)
def test_a_field_is_where_the_documented_layout_puts_it(
    structure: type[ctypes.Structure], field: str, offset: int
) -> None:
    assert getattr(structure, field).offset == offset


def test_limits_ask_for_the_end_with_the_handle_and_for_the_number_of_processes() -> None:
    limits = windows.limits_of(None, 64)

    assert limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x400 | 0x8
    assert limits.BasicLimitInformation.ActiveProcessLimit == 64
    assert limits.ProcessMemoryLimit == 0


def test_limits_count_memory_in_bytes_where_it_is_declared() -> None:
    limits = windows.limits_of(5000, 64)

    assert limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x400 | 0x100 | 0x8
    assert limits.ProcessMemoryLimit == 5000 * 1024 * 1024


class Recorder:
    """Stands in for kernel32: writes down each call, and one function fails as documented."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.calls: list[tuple[object, ...]] = []

    def __getattr__(self, name: str) -> object:
        def call(*arguments: object) -> int | None:
            self.calls.append((name, *arguments))
            if name == self.failing:
                return {"CreateJobObjectW": None, "ResumeThread": 0xFFFFFFFF}.get(name, 0)
            return {"CreateJobObjectW": 7, "ResumeThread": 1}.get(name, 1)

        return call

    @property
    def names(self) -> list[object]:
        """The functions called, in order."""
        return [call[0] for call in self.calls]


def job_with(kernel: Recorder) -> windows.Job:
    """Return a job of this kernel."""
    return windows.Job(cast("ctypes.CDLL", kernel), windows.limits_of(None, 8))


def test_a_process_runs_only_when_its_job_has_limits_and_holds_it() -> None:
    kernel = Recorder()

    job_with(kernel).admit(11, 12)

    assert kernel.names == [
        "CreateJobObjectW",
        "SetInformationJobObject",
        "AssignProcessToJobObject",
        "ResumeThread",
    ]
    assert kernel.calls[0] == ("CreateJobObjectW", None, None)
    assert (kernel.calls[1][1], kernel.calls[1][2], kernel.calls[1][4]) == (
        7,
        9,
        ctypes.sizeof(windows.limits_of(1, 1)),
    )
    assert kernel.calls[2:] == [("AssignProcessToJobObject", 7, 11), ("ResumeThread", 12)]


def test_a_process_that_its_job_refuses_is_ended_and_never_runs() -> None:
    kernel = Recorder("AssignProcessToJobObject")
    job = job_with(kernel)

    with pytest.raises(OSError, match="AssignProcessToJobObject"):
        job.admit(11, 12)

    assert kernel.calls[-1] == ("TerminateProcess", 11, 1)
    assert "ResumeThread" not in kernel.names


def test_a_process_that_cannot_be_resumed_is_ended_with_its_job() -> None:
    kernel = Recorder("ResumeThread")
    job = job_with(kernel)

    with pytest.raises(OSError, match="ResumeThread"):
        job.admit(11, 12)

    assert kernel.calls[-1] == ("TerminateJobObject", 7, 1)


def test_a_job_that_takes_no_limits_is_given_back() -> None:
    kernel = Recorder("SetInformationJobObject")

    with pytest.raises(OSError, match="SetInformationJobObject"):
        job_with(kernel)

    assert kernel.calls[-1] == ("CloseHandle", 7)


@pytest.mark.parametrize("function", ["CreateJobObjectW", "TerminateJobObject"])
def test_a_refusal_of_the_system_is_an_error(function: str) -> None:
    kernel = Recorder(function)

    with pytest.raises(OSError, match=function):
        job_with(kernel).end()


def test_a_handle_is_given_back_once() -> None:
    kernel = Recorder()
    job = job_with(kernel)

    job.close()
    job.close()

    assert kernel.names.count("CloseHandle") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="says what happens elsewhere")
def test_the_library_is_refused_away_from_windows() -> None:
    with pytest.raises(OSError, match="Windows"):
        windows.kernel32()


def test_importing_loads_no_library_of_windows() -> None:
    script = (
        "import ctypes\n"
        "class Forbidden:\n"
        "    def __getattr__(self, name): raise SystemExit(9)\n"
        "    def __call__(self, *arguments, **options): raise SystemExit(9)\n"
        "ctypes.windll = ctypes.WinDLL = ctypes.get_last_error = Forbidden()\n"
        "import sys; sys.platform = 'win32'\n"
        "import loopx_host.adapters.process.untested_windows\n"
    )

    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)

    assert ended.returncode == 0


@pytest.mark.parametrize("name", ["untested_macos", "untested_windows"])
def test_no_module_of_the_host_imports_what_is_untested(name: str) -> None:
    package = os.path.dirname(os.path.dirname(os.path.dirname(windows.__file__)))
    sources = [
        os.path.join(folder, file)
        for folder, _, files in os.walk(package)
        for file in files
        if file.endswith(".py") and not file.startswith("untested_")
    ]

    naming = []
    for source in sources:
        with open(source, encoding="utf-8") as opened:
            if name in opened.read():
                naming.append(source)

    assert naming == []
