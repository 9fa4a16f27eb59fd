"""``focuseval.assess`` of 0.2.0, now `focuseval.assessment`."""

from focuseval.assessment import open_project as open_project
