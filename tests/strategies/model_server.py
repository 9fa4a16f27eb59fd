"""A local server that speaks OpenAI's chat completions, and misbehaves as it is told to."""

import contextlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SPRING = "high water is higher, low water is lower, and the tide is called a spring tide."
NEAP = "The range shrinks, and the tide is called a neap."
"""Two passages of the embedded example's article on tides."""

DOCUMENT = re.compile(r"----- document (\w+) begins -----\n(.*)\n----- document \1 ends -----", re.DOTALL)


def answer(quotes=(), entry=None, **more):
    """What a model writes."""
    return json.dumps({"quotes": list(quotes), "best_entry_point": entry, **more}, ensure_ascii=False)


def reply(content, finish="stop"):
    """A reply with a model's text in it."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}],
        "usage": usage,
    }


def asked_text(body):
    """The text of the document in a request."""
    return DOCUMENT.search(body["messages"][-1]["content"])[2]


class ModelServer:
    """Answers each request by a function from its body to what is sent: text, (status, headers, bytes) or a behaviour.

    A behaviour is a function that gets the handler and writes what it likes.
    """

    def __init__(self, respond):
        self.respond, self.requests, self.headers, self.lock = respond, [], [], threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.requests.append(body)
                    outer.headers.append(dict(self.headers))
                    said = outer.respond(body, len(outer.requests))
                with contextlib.suppress(OSError):
                    outer.write(self, said)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)

    @staticmethod
    def write(handler, said):
        if callable(said):
            said(handler)
            return
        status, headers, data = said if isinstance(said, tuple) else (200, {}, json.dumps(reply(said)).encode())
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def error(status, message="no", **headers):
    """A refusal."""
    return status, headers, json.dumps({"error": {"message": message}}).encode()


def stall(handler):
    """Say nothing for longer than anybody waits."""
    time.sleep(5)


def drip(handler):
    """Send a byte now and then, so that no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def cut(handler):
    """Promise more than is sent, and go away."""
    data = json.dumps(reply(answer())).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[:20])
    handler.close_connection = True


def cut_stream(handler):
    """Begin a chunked reply, and go away."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"20\r\n{")
    handler.close_connection = True


def hang_up(handler):
    """Close the connection without a word."""
    handler.close_connection = True
