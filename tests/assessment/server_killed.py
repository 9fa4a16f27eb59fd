"""Serve a project on a given port until it is killed; says that it is ready. The test kills this process."""

import sys
from pathlib import Path

from focuseval.assessment.backup import Backups
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Store
from focuseval.assessment.users import User
from focuseval.assessment.web import Access, create_app
from focuseval.assessment.web.serve import Server, bind, names_of
from focuseval.collection.rendering import Document
from strategies.pages import TOPICS, Pages


def main(folder: str, port: int, people: int, password: str, text: str) -> None:
    users = {f"user{k}": User(f"user{k}", "assessor", password) for k in range(people)}
    store = Store(Path(folder) / "assess.db")
    add_to_pool(store, [Pooled("11", "text")], actor="lead")
    access = Access(b"k" * 32, names_of("127.0.0.1", port), users=users)
    server = Server(create_app(store, Pages(Document("text", text)), TOPICS, access), bind(port=port))
    Backups(store, Path(folder) / "backups", interval=0.5).start()
    server.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6])
