"""The executors: in this process, in worker processes, or in the pool of a plugin."""

import re

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.engine.workers.executor import Executor
from tokbench.plugin import ContractError, ExecutorSpec
from tokbench.registry.plugins import load_registry


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2, "inprocess"), "--executor inprocess has no workers; leave out --workers 2"),
        ((0, "workers"), "--executor workers needs a worker; write --workers 1 or more"),
        ((0, "dask"), "--executor dask needs a worker; write --workers 1 or more"),
        ((1, "", "tcp://h:1"), "a scheduler is for dask; write --executor dask --scheduler tcp://h:1"),
        ((3, "dask", "tcp://h:1"), "the workers are those of tcp://h:1; leave out --workers 3"),
        ((1, "dusk"), "unknown executor 'dusk'; did you mean 'dask'?"),
        ((-1,), "-1 is too few; give 0 or more"),
    ],
)
def test_what_does_not_go_together_is_told_with_what_to_type(write_config, given, message):
    workers, executor, scheduler = (*given, "", "")[:3]
    assert Executor(*given).problems() == [message]
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        tokbench.run(write_config(), workers=workers, executor=executor, scheduler=scheduler)


def test_executors_by_number_of_workers():
    assert [Executor(0).kind, Executor(3).kind, Executor(1, "inprocess").kind] == ["inprocess", "workers", "inprocess"]
    assert not any(Executor(*given).problems() for given in [(0,), (1, "inprocess"), (2, "workers"), (2, "dask")])


def test_an_executor_of_a_plugin_does_the_jobs_of_a_run(write_config, install):
    install("own_executors")
    path = write_config()
    expected = tokbench.run(path, executor="inprocess")
    results = tokbench.run(path, executor="alone")
    assert [(cell.metric, cell.value) for cell in results.cells] == [(c.metric, c.value) for c in expected.cells]
    assert "the executor alone has done it" in results.notes


def test_an_executor_of_a_plugin_may_join_no_cluster_or_lack_a_library(write_config, install):
    install("own_executors")
    assert Executor(name="alone", scheduler="tcp://h:1").problems() == [
        "a scheduler is for dask; write --executor dask --scheduler tcp://h:1"
    ]
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.run(write_config(), executor="lacking")
    assert str(caught.value) == "the executor 'lacking' needs the library no-such-library: pip install no-such-library"


def test_no_plugin_takes_the_name_of_an_executor_that_is_there_without_one():
    spec = ExecutorSpec(name="workers", summary="", open=lambda *_: None)
    with pytest.raises(ContractError, match="the executor 'workers' is already there, from tokbench"):
        load_registry().executors.check([spec])


def test_an_executor_whose_plugin_is_left_out(write_config, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,metrics,reports")
    with pytest.raises(tokbench.InputError, match=r"executor 'dask' may come from the plugin 'dask' .* did not load"):
        tokbench.run(write_config(), executor="dask")
    message = "no executor that is installed can join a cluster; leave out --scheduler tcp://h:1"
    assert Executor(scheduler="tcp://h:1").problems() == [message]


def test_the_command_refuses_an_executor_that_is_not_known_before_it_reads_anything(tmp_path):
    outcome = CliRunner().invoke(command, ["run", str(tmp_path / "missing.yaml"), "--executor", "worker"])
    assert isinstance(outcome.exception, tokbench.InputError)
    assert str(outcome.exception) == "executor: unknown executor 'worker'; did you mean 'workers'?"


def test_list_has_the_executors_of_plugins():
    outcome = CliRunner().invoke(command, ["list", "executors"])
    assert "the workers of a dask cluster" in outcome.output
