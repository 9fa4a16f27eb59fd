"""One Dask cluster of two processes for all tests here; it knows the object store."""

import logging
from contextlib import suppress

import pytest


@pytest.fixture(scope="session")
def dask(store):  # the store first: workers inherit its address and credentials
    distributed = pytest.importorskip("distributed")
    import dask  # noqa: PLC0415  comes with distributed

    quick = {"distributed.comm.timeouts.connect": "3s"}  # how long a result of a worker that died is asked for
    with dask.config.set(quick):
        started = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            protocol="tcp://",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL + 1,
        )
        yield started
        with suppress(TimeoutError):  # of older versions, where a busy machine takes its time to end a killed worker
            started.close()
