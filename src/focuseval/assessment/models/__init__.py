"""A language model as one more assessor, and how far any assessor, person or model, can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.assessment.models.judging import ModelJudged, judge_project
    from focuseval.assessment.models.prompt import Prompt, read_prompt
    from focuseval.assessment.models.settings import ModelSettings
    from focuseval.assessment.models.trust import Trust, project_trust

__all__ = ["ModelJudged", "ModelSettings", "Prompt", "Trust", "judge_project", "project_trust", "read_prompt"]

__getattr__ = attributes(
    __name__,
    {
        "ModelJudged": "judging",
        "ModelSettings": "settings",
        "Prompt": "prompt",
        "Trust": "trust",
        "judge_project": "judging",
        "project_trust": "trust",
        "read_prompt": "prompt",
    },
)
