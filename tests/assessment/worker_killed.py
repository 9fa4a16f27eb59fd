"""Edit one document for ever, and say so on stdout after every commit; the test kills this process."""

import os
import random
import resource
import sys
from pathlib import Path

from focuseval.assessment.store import Store
from strategies.assessing import ANN, PAGE, Model


def main(path: str, done: int) -> None:
    store, chance, model = Store(Path(path)), random.Random(11), Model()
    for number in range(10_000):
        edit = model.choose(chance)
        model.step(edit)
        if number >= done:
            store.edit(ANN, PAGE, edit, version=number, token=f"edit-{number}")
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if "LIMIT" in os.environ:  # a disk that is full after so many bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LIMIT"]),) * 2)
    main(sys.argv[1], int(sys.argv[2]))
