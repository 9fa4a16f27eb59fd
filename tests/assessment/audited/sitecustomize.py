"""Write down every file of the project's database that this process opens other than through SQLite."""

import os
import sys
import traceback

_KINDS = ("open", "os.open", "shutil.copyfile")


def _audit(event, arguments):
    if event in _KINDS and "/assess.db" in str(arguments[0]):
        with open(os.environ["FOCUSEVAL_AUDIT"], "a", encoding="utf-8") as log:  # noqa: PTH123  the first module of all
            log.write(f"{event} {arguments[0]}\n{''.join(traceback.format_stack(limit=4))}\n")


if "FOCUSEVAL_AUDIT" in os.environ:
    sys.addaudithook(_audit)
