"""The wheel, installed into an empty folder without network: suites run by name, and write nowhere but there."""

import compileall
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which the wheel was unpacked and compiled, which is all that installing one of pure Python does."""
    pytest.importorskip("hatchling")
    wheels = tmp_path_factory.mktemp("wheels")
    build = f"from hatchling.build import build_wheel; build_wheel({str(wheels)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=REPOSITORY, check=True, timeout=120)
    [wheel] = wheels.glob("tokbench-*.whl")
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    compileall.compile_dir(folder, quiet=2)
    return folder


def offline(site, folder, *arguments, code=0):
    """Run Python with the wheel, in a folder, without network where the system allows it."""
    allowed = (
        Path("/usr/bin/unshare").exists() and not subprocess.run(["unshare", "-rn", "true"], check=False).returncode
    )
    environment = {key: value for key, value in os.environ.items() if key != "TOKBENCH_TEST_DATA"}
    environment |= {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / ".numba")}
    command = [*(["unshare", "-rn"] if allowed else []), sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }


def test_suites_are_in_the_wheel_as_they_are_in_the_repository(site):
    for path in (REPOSITORY / "configs").glob("*.yaml"):
        assert (site / "tokbench" / "configs" / path.name).read_bytes() == path.read_bytes()
    assert not (site / "configs").exists()


def test_a_suite_runs_by_name_and_writes_into_the_current_folder_alone(site, tmp_path):
    before = contents(site)
    where = offline(site, tmp_path, "-c", "import tokbench; print(tokbench.__file__)").strip()
    assert Path(where).is_relative_to(site), "the wheel, and not the repository, is tested"
    options = ["--limit", "2", "--only", "bytes", "--only", "naive", "--set", "metrics=[compression]"]
    said = offline(site, tmp_path, "-m", "tokbench", "run", "quickstart", *options)
    assert "first look: at most 2 documents a group" in said
    assert (tmp_path / "reports" / "quickstart" / "report.html").stat().st_size > 10_000
    assert (tmp_path / "reports" / "quickstart" / "artefacts" / "naive.bpe.json").exists()
    again = ["report", "reports/quickstart", "--format", "html", "--format", "latex", "-o", "again"]
    offline(site, tmp_path, "-m", "tokbench", *again)
    assert (tmp_path / "again" / "report.html").read_bytes() == (
        tmp_path / "reports" / "quickstart" / "report.html"
    ).read_bytes()
    offline(site, tmp_path, "-m", "tokbench", "new", "quickstart", "-o", "mine.yaml")
    assert (tmp_path / "mine.yaml").read_bytes() == (REPOSITORY / "configs" / "quickstart.yaml").read_bytes()
    assert contents(site) == before


def test_a_suite_of_shipped_texts_runs_from_python_in_an_empty_folder(site, tmp_path):
    script = """
import sys
import tokbench

only, metrics = sys.argv[2].split(","), "metrics=[compression]"
results = tokbench.run(sys.argv[1], "out", workers=0, limit=1, only=only, settings=[metrics], store=False)
print(results.name, len(results.cells), results.failed)
"""
    said = offline(site, tmp_path, "-c", script, "code", "bytes").splitlines()[-1]
    name, cells, failed = said.split()
    assert (name, failed) == ("code", "False")
    assert int(cells) > 0
    assert {path.name for path in tmp_path.iterdir()} <= {"out", ".numba"}


def test_the_corpora_of_every_suite_can_be_read_from_the_wheel(site, tmp_path):
    script = """
from pathlib import Path
from tokbench.config.read import read_config
from tokbench.config.suites import shipped_suites
from tokbench.registry.plugins import load_registry
from tokbench.engine.planning import make_plan

for suite in shipped_suites().values():
    config = read_config(Path(suite.name), )
    if not suite.needs_data:
        plan = make_plan(config, load_registry(), lambda *_: None)
        wrong = [str(problem) for problem in plan.problems]
    print(suite.name, config.path, "needs data" if suite.needs_data else wrong)
"""
    lines = offline(site, tmp_path, "-c", script).splitlines()
    names = {path.stem for path in (REPOSITORY / "configs").glob("*.yaml")}
    # Suites of installed packages come after those of the wheel.
    mine = [line.split(maxsplit=2) for line in lines if line.split()[0] in names]
    assert {name for name, *_ in mine} == names
    for name, path, outcome in mine:
        assert Path(path) == site / "tokbench" / "configs" / f"{name}.yaml"
        assert outcome in {"[]", "needs data"}, name
