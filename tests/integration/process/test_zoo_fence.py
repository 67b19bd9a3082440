"""A provider without permissions reaches nothing outside, and a permission opens exactly what it names (B6)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import zoo
from tests.support.zoo import PYTHON, Bystander, C, Grounds, Keeper, Listeners

pytestmark = [
    pytest.mark.req("B6"),
    pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'"),
]
LEVELS = (*zoo.FENCED, "contained+no-new-session", "")  # the last: nothing asked for
CALLS_OUT = {"tcp", "udp", "named", "abstract", "datagram", "abstract_datagram", "pair_datagram"}


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    made = zoo.new_mark()
    yield made
    zoo.exterminate(made)


class Cage:
    """One person, one level, one language: where an animal is let loose on things of that person's."""

    def __init__(self, grounds: Grounds, mark: str, folder: Path, language: str, level: str, who: str) -> None:
        self.owner = grounds.person(who)
        self.outside = zoo.outside(folder, self.owner)
        self._folder = folder
        self._mark = mark
        self._argv = grounds.argv(language, who)
        self._keeper = grounds.keeper("port", language, level, who)
        self._cleanup = contextlib.ExitStack()

    def close(self) -> None:
        self._cleanup.close()

    def listeners(self) -> Listeners:
        return self._cleanup.enter_context(contextlib.closing(Listeners(self.outside)))

    def bystander(self) -> Bystander:
        return self._cleanup.enter_context(contextlib.closing(Bystander(self.owner)))

    def result(self, animal: str, *, reads: list[str] | None = None, **order: Any) -> dict[str, Any]:
        request = {"animal": animal, "place": str(self.outside), **order.pop("request", {})}
        needs = [self._argv[0], sys.base_prefix, sys.prefix, *(reads or [])]
        return self._keeper.run(argv=self._argv, reads=needs, mark=self._mark, request=request, **order)

    def let_loose(self, animal: str, **order: Any) -> dict[str, Any]:
        return zoo.said(self.result(animal, **order))

    def secret(self) -> Path:
        """Make a key in the person's home, in a folder of its own."""
        folder = self._folder / f"home-{self._mark[:8]}" / ".ssh"
        folder.mkdir(parents=True)
        (folder / "id_zoo").write_bytes(b"the user's key\n")
        os.setxattr(folder / "id_zoo", "user.there", b"1")
        self.owner.own(folder.parent)
        return folder / "id_zoo"


@pytest.fixture
def cage(grounds: Grounds, mark: str, request: pytest.FixtureRequest) -> Iterator[Cage]:
    language, level, who = request.param
    with zoo.ground(grounds.person(who)) as folder:
        made = Cage(grounds, mark, folder, language, level, who)
        yield made
        made.close()


def cages(*languages: str, levels: tuple[str, ...] = LEVELS) -> pytest.MarkDecorator:
    """Let a test have a cage per language, level and person."""
    made = []
    for language in languages:
        # The animals in Python try less: the default level is enough.
        for level in levels if language == C else levels[-1:]:
            for who in zoo.people():
                name = f"{language}-{level or 'default'}-{who}"
                made.append(pytest.param((language, level, who), id=name))
    return pytest.mark.parametrize("cage", made, indirect=True)


@cages(C, PYTHON)
def test_a_writer_changes_nothing_outside_its_private_directory(cage: Cage) -> None:
    before = zoo.snapshot(cage.outside)

    answer = cage.let_loose("writer")

    assert zoo.managed(answer) == set()
    assert zoo.snapshot(cage.outside) == before


@cages(C)
def test_a_writer_changes_no_file_that_it_may_read(cage: Cage) -> None:
    readable = cage.outside / "victim"
    before = zoo.snapshot(cage.outside)

    answer = cage.let_loose("writer", reads=[str(readable)], request={"readable": str(readable)})

    assert zoo.managed(answer) == set()
    assert zoo.snapshot(cage.outside) == before


@cages(C)
def test_a_writer_writes_in_its_private_directory(cage: Cage) -> None:
    assert cage.let_loose("writer")["private"] == 0


@cages(C, PYTHON)
def test_a_reader_reads_no_file_of_the_user(cage: Cage) -> None:
    secret = cage.secret()

    answer = cage.let_loose("reader", request={"secret": str(secret)})

    assert zoo.managed(answer) == set()
    assert secret.read_bytes() == b"the user's key\n"


@cages(C, PYTHON)
def test_a_caller_reaches_nobody(cage: Cage) -> None:
    listeners = cage.listeners()

    answer = cage.let_loose("caller", request=listeners.fields)

    assert zoo.managed(answer) == set()
    assert listeners.heard() == []


@cages(C)
def test_a_provider_has_pairs_of_sockets_for_itself(cage: Cage) -> None:
    listeners = cage.listeners()

    answer = cage.let_loose("caller", request=listeners.fields)

    assert answer["own_pair"] == 0


@cages(C)
def test_a_tracer_sees_into_nobody(cage: Cage) -> None:
    bystander = cage.bystander()

    answer = cage.let_loose("tracer", request={**bystander.fields, "host": str(os.getpid())})

    assert zoo.managed(answer) == set()
    assert bystander.is_alive


@cages(C, PYTHON)
def test_a_signaller_signals_nobody(cage: Cage) -> None:
    bystander = cage.bystander()

    answer = cage.let_loose("signaller", request=bystander.fields)

    assert zoo.managed(answer) == set()
    assert bystander.is_alive


@cages(C)
def test_nobody_outside_is_scheduled_otherwise(cage: Cage) -> None:
    """Else a provider could take its supervisor the time to end it."""
    bystander = cage.bystander()

    answer = cage.let_loose("scheduler", request={**bystander.fields, "host": str(os.getpid())})

    assert zoo.managed(answer) == set()


@cages(C)
def test_a_killer_kills_nobody(cage: Cage) -> None:
    bystander = cage.bystander()

    answer = cage.let_loose("killer", request=bystander.fields)

    assert (answer["killed_parent"], answer["killed_host"], answer["stopped_bystander"]) == (0, 0, 0)
    assert bystander.is_alive


@cages(C)
def test_a_scanner_learns_nothing_of_other_processes(cage: Cage) -> None:
    bystander = cage.bystander()

    answer = cage.let_loose("scanner", request=bystander.fields)

    readable = {name: answer[f"readable_{name}"] for name in ("environ", "cmdline", "comm", "status", "mem")}
    assert readable == dict.fromkeys(readable, 0)
    assert answer["found"] == 0


@cages(C)
def test_a_gainer_holds_no_more_than_it_was_given(cage: Cage) -> None:
    answer = cage.let_loose("gainer")

    assert zoo.managed(answer) == set()
    assert answer["NoNewPrivs"] == 1


@cages(C)
def test_a_provider_of_roots_may_not_become_anybody_else_with_its_capabilities(cage: Cage) -> None:
    """What is left to root are the two that pass over permission bits, which the file rules do not."""
    answer = cage.let_loose("gainer")

    kept = 0b110 if cage.owner.is_root else 0
    assert (answer["CapEff"] | answer["CapPrm"]) & ~kept == 0
    assert (answer["CapInh"], answer["CapAmb"]) == (0, 0)


@pytest.mark.parametrize("who", zoo.people())
def test_no_mount_of_a_namespace_gives_the_rights_of_another(grounds: Grounds, mark: str, who: str) -> None:
    code = "import os, sys; sys.exit(sum(not os.statvfs(path).f_flag & os.ST_NOSUID for path in ('.', '/', '/usr')))"
    python = grounds.person(who).python
    needs = [python, sys.base_prefix, sys.prefix]

    result = grounds.keeper("port", C, "namespaced", who).run(
        argv=[python, "-IS", "-c", code], reads=needs, mark=mark, request={}
    )

    assert result["exit_code"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes set-user-ID programs of root's")
@pytest.mark.parametrize("who", ["ordinary"])
@pytest.mark.parametrize("level", LEVELS)
def test_programs_that_give_privileges_give_none(grounds: Grounds, mark: str, level: str, who: str) -> None:
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    with zoo.ground(grounds.person("root")) as folder:
        request = zoo.privileged(folder, argv[0])
        result = keeper.run(argv=argv, reads=[*argv, str(folder)], mark=mark, request={"animal": "gainer", **request})

    answer = zoo.said(result)
    assert {answer["setuid"], answer["capable"]} <= {"errno:1", "errno:8"}
    assert zoo.rows(result["containment"])["new_privileges"]["enforced"] is True


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes set-user-ID programs of root's")
def test_the_gainer_has_teeth_where_nothing_is_fenced(grounds: Grounds, mark: str) -> None:
    argv = grounds.argv(C, "ordinary")
    keeper = grounds.keeper("port", C, "limits", "ordinary")
    with zoo.ground(grounds.person("root")) as folder:
        request = zoo.privileged(folder, argv[0])
        result = keeper.run(argv=argv, mark=mark, request={"animal": "gainer", **request})

    assert {"setuid", "capable"} <= zoo.managed(zoo.said(result))
    assert zoo.rows(result["containment"])["new_privileges"]["enforced"] is False


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_nothing_the_host_has_open_is_inherited(grounds: Grounds, mark: str, who: str, level: str) -> None:
    owner = grounds.person(who)
    with zoo.ground(owner) as folder:
        (folder / "open").write_bytes(b"held open by the host\n")
        owner.own(folder)
        env = {**grounds.env("port", C, who), "ZOO_INHERITED": str(folder / "open")}
        keeper = Keeper("port", level, owner, env)
        argv = grounds.argv(C, who)

        answer = zoo.said(keeper.run(argv=argv, reads=argv, mark=mark, request={"animal": "descriptors"}))

        keeper.close()
    assert (answer["extra"], answer["which"]) == (0, "")


@cages(C, levels=("process", "limits"))
def test_the_animals_have_teeth_where_nothing_is_fenced(cage: Cage) -> None:
    """What the tests above refuse, these same programs do here; and the rows say that nothing is enforced."""
    listeners, bystander, secret = cage.listeners(), cage.bystander(), cage.secret()

    called = cage.result("caller", request=listeners.fields)
    scanned = cage.let_loose("scanner", request=bystander.fields)
    signalled = cage.let_loose("signaller", request={**bystander.fields, "only": "bystander"})
    read = cage.let_loose("reader", request={"secret": str(secret)})
    written = cage.let_loose("writer")

    assert zoo.managed(zoo.said(called)) >= CALLS_OUT
    assert len(listeners.heard()) == 6
    assert not bystander.is_alive  # by `owner`, a descriptor's signal
    assert {"kill_bystander", "pidfd_bystander", "sigqueue_bystander"} <= zoo.managed(signalled)
    assert scanned["found"] > 0
    assert {"open", "openat2", "path_only", "hard_link"} <= zoo.managed(read)
    assert {"write", "create", "truncate", "rename_in", "mkdir", "chmod", "utimensat"} <= zoo.managed(written)
    assert {"setuid_created", "setuid_chmod", "setgid_fchmod"} <= zoo.managed(written)
    fenced = {"network", "file_writes", "file_attributes", "file_reads", "signals", "tracing", "new_privileges"}
    table = zoo.rows(called["containment"])
    assert {name: (table[name]["enforced"], table[name]["by"]) for name in fenced} == dict.fromkeys(
        fenced, (False, "nothing")
    )


@cages(C, levels=zoo.FENCED)
def test_net_connect_reaches_out_and_opens_nothing_else(cage: Cage) -> None:
    listeners = cage.listeners()
    before = zoo.snapshot(cage.outside)

    answer = cage.let_loose("caller", permissions=["net.connect"], request=listeners.fields)

    reached = zoo.managed(answer)
    assert {"tcp", "udp"} <= reached <= {"tcp", "tcp_fast_open", "tcp6", "mptcp", "udp", "high_bits", "ping"}
    assert {name for name in listeners.heard() if "127.0.0.1" not in name} == set()
    assert zoo.managed(cage.let_loose("writer", permissions=["net.connect"])) == set()
    assert zoo.snapshot(cage.outside) == before


@pytest.mark.req("X10")
@cages(C, levels=(*zoo.FENCED, "limits", "process"))
def test_the_rows_tell_what_was_granted_enforced_or_not(cage: Cage) -> None:
    order: dict[str, Any] = {
        "permissions": ["net.connect", "fs.read:in", "fs.write:out", "fs.write:absent"],
        "references": {"in": str(cage.outside), "out": str(cage.outside)},
    }

    nothing = zoo.rows(cage.result("caller", request=cage.listeners().fields)["containment"])
    granted = zoo.rows(cage.result("caller", request=cage.listeners().fields, **order)["containment"])

    rows = ("network", "file_writes", "file_reads")
    assert [nothing[name]["value"] for name in rows] == ["none", "private directory", "runtime"]
    assert [granted[name]["value"] for name in rows] == ["outbound", "private directory, out", "runtime, in, out"]


@cages(C, levels=zoo.FENCED)
def test_any_other_token_grants_nothing(cage: Cage) -> None:
    tokens = [
        "net.listen",
        "net",
        "net.*",
        "net.connect.all",
        "fs.read",
        "fs.read:",
        "fs.read:other",
        "fs.write:/",
        "*",
    ]
    listeners = cage.listeners()
    before = zoo.snapshot(cage.outside)
    order = {
        "permissions": [*tokens, "", "*", "fs.write:out/..", "FS.WRITE:out"],
        "references": {"out": str(cage.outside)},
    }

    written = cage.let_loose("writer", **order)
    called = cage.let_loose("caller", request=listeners.fields, **order)
    read = cage.let_loose("reader", request={"secret": str(cage.outside / "victim")}, **order)

    assert (zoo.managed(written), zoo.managed(called), zoo.managed(read)) == (set(), set(), set())
    assert zoo.snapshot(cage.outside) == before


@cages(C, levels=zoo.FENCED)
def test_a_reading_permission_reads_below_its_path_and_nowhere_else(cage: Cage) -> None:
    secret = cage.secret()
    beside = cage.outside.parent / "beside"
    (cage.outside / "way-out").symlink_to(secret)
    before = zoo.snapshot(cage.outside)
    beside.write_bytes(b"not granted\n")
    order = {"permissions": ["fs.read:in"], "references": {"in": str(cage.outside), "other": str(secret.parent)}}

    inside = cage.let_loose("plain_reader", request={"secret": str(cage.outside / "victim")}, **order)
    through_link = cage.let_loose("plain_reader", request={"secret": str(cage.outside / "way-out")}, **order)
    next_to_it = cage.let_loose("plain_reader", request={"secret": str(beside)}, **order)
    elsewhere = cage.let_loose("reader", request={"secret": str(secret)}, **order)
    written = cage.let_loose("writer", **order)

    assert zoo.managed(inside) == {"open", "list"}
    assert zoo.managed(through_link) == {"list"}
    assert zoo.managed(next_to_it) == set()
    assert zoo.managed(elsewhere) == set()
    assert zoo.managed(written) == set()
    assert zoo.snapshot(cage.outside) == before


@cages(C, levels=zoo.FENCED)
def test_a_writing_permission_writes_below_its_path_and_nowhere_else(cage: Cage) -> None:
    granted = cage.owner.own(zoo.outside(cage.outside.parent, cage.owner))
    (granted / "way-out").symlink_to(cage.outside)
    before = zoo.snapshot(cage.outside)
    order = {"permissions": ["fs.write:out"], "references": {"out": str(granted), "other": str(cage.outside)}}

    inside = cage.let_loose("plain_writer", request={"place": str(granted)}, **order)
    read = cage.let_loose("plain_reader", request={"secret": str(granted / "victim")}, **order)
    through_link = cage.let_loose("plain_writer", request={"place": str(granted / "way-out")}, **order)
    elsewhere = cage.let_loose("writer", **order)

    assert zoo.managed(inside) == {"create", "append", "mkdir"}
    assert zoo.managed(read) == {"open", "list"}
    assert (zoo.managed(through_link), zoo.managed(elsewhere)) == (set(), set())
    assert zoo.snapshot(cage.outside) == before


@pytest.mark.parametrize("language", [C, PYTHON])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_the_command_line_runs_the_whole_zoo_without_an_escape(
    grounds: Grounds, mark: str, who: str, level: str, language: str
) -> None:
    owner = grounds.person(who)
    guest = grounds.guest(language, who)
    with contextlib.ExitStack() as cleanup:
        folder = cleanup.enter_context(zoo.ground(owner))
        bystander = cleanup.enter_context(contextlib.closing(Bystander(owner)))
        listeners = cleanup.enter_context(contextlib.closing(Listeners(folder)))
        place = zoo.outside(folder, owner)
        before = zoo.snapshot(place)
        env = {"ZOO_MARK": mark, "ZOO_SECRET": bystander.secret, **({"LOOPX_CONTAINMENT": level} if level else {})}
        fields = {**listeners.fields, **bystander.fields, "place": str(place), "secret": str(place / "victim")}

        escaped = {}
        for animal in ("writer", "reader", "caller", "signaller", *(("tracer", "gainer") if language == C else ())):
            answer = guest.run("zoo", {**fields, "animal": animal}, env=env)
            assert answer.status == 0, answer
            escaped[animal] = zoo.managed(answer.document["provider_result"])

        assert escaped == {animal: set() for animal in escaped}
        assert zoo.snapshot(place) == before
        assert (listeners.heard(), bystander.is_alive) == ([], True)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_an_embedding_program_keeps_the_whole_zoo_in(grounds: Grounds, mark: str, who: str, level: str) -> None:
    owner = grounds.person(who)
    keeper = grounds.keeper("host", C, level, who)
    with contextlib.ExitStack() as cleanup:
        folder = cleanup.enter_context(zoo.ground(owner))
        bystander = cleanup.enter_context(contextlib.closing(Bystander(owner)))
        listeners = cleanup.enter_context(contextlib.closing(Listeners(folder)))
        place = zoo.outside(folder, owner)
        before = zoo.snapshot(place)
        fields = {**listeners.fields, **bystander.fields, "place": str(place), "secret": str(place / "victim")}
        fields["host"] = str(keeper.process.pid)

        escaped = {}
        for animal in ("writer", "reader", "caller", "signaller", "tracer", "gainer"):
            receipt = keeper.run(extension="zoo", mark=mark, request={**fields, "animal": animal})
            escaped[animal] = zoo.managed(receipt["provider_result"])

        assert escaped == {animal: set() for animal in escaped}
        assert zoo.snapshot(place) == before
        assert (listeners.heard(), bystander.is_alive) == ([], True)
