"""The executors: in this process, in worker processes, or in the pool of a plugin."""

import re

import pytest

import tokbench
from tokbench.foundation.errors import ContractError
from tokbench.plugin import ExecutorSpec
from tokbench.registry.plugins import load_registry


@pytest.mark.packages
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2, "inprocess"), "leave out --workers 2"),
        ((0, "futures"), "write --workers 1 or more"),
        ((1, "", "tcp://h:1"), "write --executor futures --scheduler tcp://h:1"),
        ((3, "futures", "tcp://h:1"), "leave out --workers 3"),
        ((1, "future"), "did you mean 'futures'?"),
        ((1, "dask"), "is gone: --executor futures"),
        ((-1,), "give 0 or more"),
    ],
)
def test_what_does_not_go_together_is_told_with_what_to_type(write_config, given, message):
    workers, executor, scheduler = (*given, "", "")[:3]
    with pytest.raises(tokbench.InputError, match=re.escape(message)):
        tokbench.run(write_config(), workers=workers, executor=executor, scheduler=scheduler)


def test_an_executor_of_a_plugin_does_the_jobs_of_a_run(write_config, install):
    install("own_plugins")
    results = tokbench.run(write_config(), executor="alone")
    assert not results.failed
    assert "the executor alone has done it" in results.notes


def test_no_plugin_takes_the_name_of_an_executor_that_is_there_without_one():
    spec = ExecutorSpec(name="workers", summary="", open=lambda *_: None)
    with pytest.raises(ContractError, match="'workers' is already there"):
        load_registry().executors.check([spec])
