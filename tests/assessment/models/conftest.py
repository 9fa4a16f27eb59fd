"""A project of two documents, a server to judge it, and pauses short enough for a test."""

from contextlib import closing

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.models.client import ModelSettings
from focuseval.assessment.models.judging import judge_project
from focuseval.assessment.models.prompt import Prompt
from strategies.model_server import ModelServer
from strategies.projects import begin_project


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr("focuseval.engine.http.FIRST_PAUSE", 0.01)


@pytest.fixture
def project(tmp_path):
    with closing(open_project(begin_project(tmp_path))) as opened:
        yield opened


@pytest.fixture
def ask(project):
    """Judge the project by a server that answers as a function of the request and its number says."""

    def judge(respond, **settings):
        with ModelServer(respond) as server:
            prompt = settings.pop("prompt", Prompt())
            limit = settings.pop("limit", None)
            given = {"endpoint": server.url, "model": "tiny", "timeout": 2.0, "retries": 2, **settings}
            judge.server = server
            return judge_project(project, ModelSettings(**given), prompt, actor="ann", limit=limit)

    return judge
