"""Files, directories and standard input give their bytes, or say why not."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest
from pytest_mock import MockerFixture

from kubectl_spread.cluster.files.sources import Input, read_inputs
from kubectl_spread.manifest_problem import ManifestProblem
from tests.cluster.api_server import ApiServer, Response, in_turn


def read(*names: str, recursive: bool = False, stdin: bytes | None = None) -> list[Input | ManifestProblem]:
    stream = None if stdin is None else io.BytesIO(stdin)
    return list(read_inputs(names, recursive=recursive, urls=False, stdin=stream))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, content: bytes = b"{}") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content)


def test_named_files_are_read_whatever_their_name() -> None:
    write("b.txt", b"b")
    write("a,c", b"a")
    assert read("b.txt", "a,c", "./b.txt") == [Input("b.txt", b"b"), Input("a,c", b"a"), Input("./b.txt", b"b")]


def test_standard_input_is_a_dash() -> None:
    assert read("-", stdin=b"{}") == [Input("standard input", b"{}")]
    assert read("-") == [ManifestProblem("standard input", "is closed")]


def test_standard_input_that_breaks_is_a_problem() -> None:
    class Broken(io.RawIOBase):
        def read(self, _size: int = -1) -> NoReturn:
            raise OSError(5, "Input/output error")

    found = read_inputs(["-"], recursive=False, urls=False, stdin=Broken())  # type: ignore[arg-type] # a stream that breaks is no BinaryIO
    assert list(found) == [ManifestProblem("standard input", "cannot be read: Input/output error")]


def test_a_directory_gives_its_manifests_in_the_order_of_their_names() -> None:
    for name in ("b.yaml", "a.json", "c.yml", "d.json.gz", "e.txt", "f.yaml.bak", "yaml", "sub/z.yaml"):
        write(f"dir/{name}")
    names = ["dir/a.json", "dir/b.yaml", "dir/c.yml", "dir/d.json.gz"]
    assert read("dir") == [Input(name, b"{}", listed=True) for name in names]


def test_a_directory_gives_what_lies_deeper_when_asked() -> None:
    for name in ("nodes.json", "shop/pods.json", "shop/web-1/logs.txt", "a/x.yaml", "a-b/x.yaml"):
        write(f"dump/{name}")
    found = read("dump/", recursive=True)
    names = ["dump/a/x.yaml", "dump/a-b/x.yaml", "dump/nodes.json", "dump/shop/pods.json"]
    assert found == [Input(name, b"{}", listed=True) for name in names]


SUFFIXES = ".json, .yaml, .yml, .json.gz, .yaml.gz, .yml.gz"


def test_a_directory_without_manifests_is_a_problem() -> None:
    write("dir/sub/a.txt")
    nothing = f"holds no file whose name ends in {SUFFIXES}"
    assert read("dir") == [ManifestProblem("dir", f"{nothing} (-R reads its subdirectories too)")]
    assert read("dir", recursive=True) == [ManifestProblem("dir", nothing)]


def test_what_cannot_be_read_is_named() -> None:
    write("dir/a.yaml")
    Path("dir/broken.yaml").symlink_to("nowhere")
    assert read("missing.yaml", "dir", "nul\0byte", "") == [
        ManifestProblem("missing.yaml", "does not exist"),
        Input("dir/a.yaml", b"{}", listed=True),
        ManifestProblem("dir/broken.yaml", "does not exist"),
        ManifestProblem("nul\0byte", "cannot be read: embedded null byte"),
        ManifestProblem('""', "cannot be read: Is a directory"),
    ]


def test_a_file_without_permission_is_a_problem(mocker: MockerFixture) -> None:
    mocker.patch.object(Path, "open", side_effect=PermissionError(13, "Permission denied"))
    assert read("secret.yaml") == [ManifestProblem("secret.yaml", "cannot be read: Permission denied")]


def test_a_directory_that_cannot_be_listed_is_a_problem_beside_what_can(mocker: MockerFixture) -> None:
    write("dir/a.yaml")
    write("dir/locked/b.yaml")
    listed = os.scandir

    def locked(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    mocker.patch.object(os, "scandir", locked)
    assert read("dir", recursive=True) == [
        ManifestProblem("dir/locked", "cannot be read: Permission denied"),
        Input("dir/a.yaml", b"{}", listed=True),
    ]


def test_urls_are_for_manifests_alone_and_never_show_a_password() -> None:
    assert read("https://me:secret@example.com/a.yaml") == [
        ManifestProblem("https://example.com/a.yaml", "is a URL, not a file")
    ]


def test_what_a_url_holds_is_taken_like_a_file(server: ApiServer) -> None:
    server.answer = in_turn(Response(body=gzip.compress(b"{}")), Response(status=404))
    first, second = f"{server.url}/a.json.gz", f"{server.url.replace('//', '//me:secret@')}/b.json"
    assert list(read_inputs([first, second], recursive=False, urls=True, stdin=None)) == [
        Input(first, b"{}"),
        ManifestProblem(f"{server.url}/b.json", "cannot be read: the server answered 404 Not Found"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"a: \xc3\xa9\n",
        b"\xef\xbb\xbfa: \xc3\xa9\n",
        "\ufeffa: \u00e9\n".encode("utf-16-le"),
        "\ufeffa: \u00e9\n".encode("utf-16-be"),
        gzip.compress(b"a: \xc3\xa9\n"),
        gzip.compress(b"a: ") + gzip.compress(b"\xc3\xa9\n"),
        gzip.compress("\ufeffa: \u00e9\n".encode("utf-16-le")),
    ],
    ids=["utf-8", "utf-8 mark", "utf-16-le", "utf-16-be", "gzip", "gzip in parts", "gzip of utf-16"],
)
def test_marks_and_compression_go_by_the_content(content: bytes) -> None:
    write("a.yaml", content)
    assert read("a.yaml", "-", stdin=content) == [
        Input("a.yaml", "a: \u00e9\n".encode()),
        Input("standard input", "a: \u00e9\n".encode()),
    ]


PACKED = gzip.compress(b"{}" * 1000)
DAMAGED = {
    PACKED[:-9]: "is a damaged gzip file: Compressed file ended before the end-of-stream marker was reached",
    PACKED[:10] + b"\xff" * 20: "is a damaged gzip file: Error -3 while decompressing data: invalid block type",
    PACKED[:-8] + bytes(8): "is a damaged gzip file: CRC check failed 0x",
    b"\x1f\x8b\x00": "is a damaged gzip file: ",
    b"\xff\xfea": "begins as UTF-16 but is not",
}


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_content_is_a_problem(content: bytes) -> None:
    write("a.gz", content)
    (found,) = read("a.gz")
    assert isinstance(found, ManifestProblem)
    assert str(found).startswith(f"a.gz: {DAMAGED[content]}")


def test_what_is_too_large_is_not_read_to_its_end() -> None:
    write("full.gz", gzip.compress(bytes(2**20)))
    write("bomb.gz", gzip.compress(bytes(2**20)) * 1000)
    write("zeros", bytes(2**20))
    too_much = "holds more than 1 MiB"
    for most in (2**20, 2**30):
        found = read_inputs(["full.gz", "bomb.gz"], recursive=False, urls=False, stdin=None, most=most)
        packed = len(gzip.compress(bytes(2**20))) * 1000
        bound = min(most, 300 * packed) // 2**20
        assert list(found) == [
            Input("full.gz", bytes(2**20)),
            ManifestProblem("bomb.gz", f"holds more than {bound} MiB"),
        ]
    stdin = io.BytesIO(bytes(2**20 + 1))
    found = read_inputs(["zeros", "-"], recursive=False, urls=False, stdin=stdin, most=2**20)
    assert list(found) == [Input("zeros", bytes(2**20)), ManifestProblem("standard input", too_much)]


def test_devices_have_no_end_but_one_that_is_empty() -> None:
    assert read("/dev/zero", "/dev/null") == [
        ManifestProblem("/dev/zero", "is a device, not a file"),
        Input("/dev/null", b""),
    ]
    with Path("/dev/urandom").open("rb") as endless:
        found = list(read_inputs(["-"], recursive=False, urls=False, stdin=endless))
    assert found == [ManifestProblem("standard input", "is a device, not a file")]


def test_a_pipe_is_read_where_it_is_named_and_not_waited_for_in_a_directory() -> None:
    Path("dir").mkdir()
    os.mkfifo("dir/a.yaml")
    assert read("dir") == [ManifestProblem("dir/a.yaml", "is not a file")]
    writer = Thread(target=Path("dir/a.yaml").write_bytes, args=[b"{}"])
    writer.start()
    assert read("dir/a.yaml") == [Input("dir/a.yaml", b"{}")]
    writer.join()


def test_links_in_circles_end() -> None:
    write("dir/sub/a.yaml")
    Path("dir/sub/up").symlink_to("..")
    Path("dir/round.yaml").symlink_to("round.yaml")
    assert read("dir", "dir/round.yaml", recursive=True) == [
        ManifestProblem("dir/round.yaml", "cannot be read: Too many levels of symbolic links"),
        Input("dir/sub/a.yaml", b"{}", listed=True),
        ManifestProblem("dir/round.yaml", "cannot be read: Too many levels of symbolic links"),
    ]


def test_directories_may_be_nested_deeper_than_a_path_is_long(tmp_path: Path) -> None:
    os.chdir(tmp_path)  # back to where every test ends, whatever happens below
    write("dir/a.yaml")
    os.chdir("dir")
    for _ in range(2200):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(tmp_path)
    found = read("dir", recursive=True)
    subprocess.run(["/bin/rm", "-r", "dir"], check=True)  # what cleans up after tests recurses too
    assert [each for each in found if isinstance(each, Input)] == [Input("dir/a.yaml", b"{}", listed=True)]
    (problem,) = (each for each in found if isinstance(each, ManifestProblem))
    assert problem.message == "cannot be read: File name too long"


@pytest.mark.parametrize("name", ["x" * 5000, "x/" * 3000, "\0", "a\udcffb"], ids=["long", "deep", "NUL", "no text"])
def test_names_that_no_file_has(name: str) -> None:
    (found,) = read(name)
    assert isinstance(found, ManifestProblem)


def test_a_name_that_is_no_text_is_escaped_where_it_is_told() -> None:
    Path("a\udcff.yaml").write_bytes(b"{}")
    assert read("a\udcff.yaml") == [Input("a\\udcff.yaml", b"{}")]
