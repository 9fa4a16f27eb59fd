"""What the exporters of OpenTelemetry, OpenInference and MLflow write of one small shop's retrievals.

`python tests/exporters.py` writes the files of `tests/formats/traces` anew, with the packages of the dependency
group ``frameworks``; ids and times are other ones each time.
"""

import gzip
import io
import json
import os
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from focuseval.formats.frames import to_table

FOLDER = Path(__file__).parent / "formats/traces"
DRAWS, GRAMS, HOT = "Black tea draws for four minutes.", "Use sixty grams for a litre.", "Serve hot."
SHOP = [
    ("How long does tea draw?", "Four minutes.", [("coffee.md", GRAMS, 0.9), ("tea.md", DRAWS, 0.7)]),
    ("How much coffee for a litre?", "Sixty grams.", [("coffee.md", GRAMS, 0.8)]),
    ("How long does tea draw?", "Four.", [("tea.md", DRAWS, 0.9)]),
]
"""Question, answer, and what was retrieved: document, text, score."""


def otlp(path):
    """OTLP's JSON lines by the file exporter of OpenTelemetry; documents have ids and scores alone."""
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter  # noqa: PLC0415  not installed everywhere
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  not installed everywhere
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415  not installed everywhere
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415  not installed everywhere

    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    exporter = FileSpanExporter(path)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop")
    for number, (question, _, found) in enumerate(SHOP):
        with tracer.start_as_current_span("chat", attributes={"user.tier": "gold" if number else "free"}):
            documents = [{"id": doc, "score": score} for doc, _, score in found]
            asked = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": question}
            listed = json.dumps(documents) if number == 1 else documents  # both are seen
            with tracer.start_as_current_span("retrieval", attributes=asked | {"gen_ai.retrieval.documents": listed}):
                pass
    provider.shutdown()


def openinference_spans():
    """Spans of OpenInference as text of the console exporter of OpenTelemetry, and as they are."""
    from openinference.instrumentation import TracerProvider, get_reranker_attributes, get_retriever_attributes  # noqa: PLC0415  not installed everywhere
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor  # noqa: PLC0415  not installed everywhere
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415  not installed everywhere

    out, memory, provider = io.StringIO(), InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("shop")
    for number, (question, answer, found) in enumerate(SHOP):
        listed = [
            {"content": text, "id": f"chunk-{number}-{rank}", "score": score, "metadata": {"source": doc, "page": 1}}
            for rank, (doc, text, score) in enumerate(found)
        ]
        with tracer.start_as_current_span("ask", openinference_span_kind="chain") as chain:
            chain.set_input(question)
            with tracer.start_as_current_span("retrieve", openinference_span_kind="retriever") as span:
                span.set_input(question)
                span.set_attributes(get_retriever_attributes(documents=listed))
                with tracer.start_as_current_span("inner", openinference_span_kind="retriever") as inner:
                    inner.set_input(f"{question} (rewritten)")
            if number == 1:
                with tracer.start_as_current_span("rerank", openinference_span_kind="reranker") as span:
                    best = [{"content": DRAWS, "metadata": {"source": "tea.md"}}, *listed]
                    span.set_attributes(
                        get_reranker_attributes(query=question, input_documents=listed, output_documents=best)
                    )
            chain.set_output(answer)
    return out.getvalue(), memory.get_finished_spans()


def phoenix_rows(spans):
    """Rows as `get_spans_dataframe` of Phoenix has them: a column for every attribute, documents in a list."""
    rows = []
    for span in spans:
        flat, documents = {}, {}
        for name, value in span.attributes.items():
            head, _, rest = name.partition("documents.")
            if rest:
                number, _, key = rest.partition(".")
                documents.setdefault(f"{head}documents", {}).setdefault(number, {})[key] = value
            else:
                flat[f"attributes.{name}"] = value
        flat |= {f"attributes.{name}": list(some.values()) for name, some in documents.items()}
        context = span.get_span_context()
        rows.append({
            "name": span.name, "span_kind": span.attributes["openinference.span.kind"],
            "parent_id": f"{span.parent.span_id:016x}" if span.parent else None, "start_time": span.start_time,
            "context.trace_id": f"{context.trace_id:032x}", "context.span_id": f"{context.span_id:016x}", **flat,
        })  # fmt: skip
    return rows


def mlflow_traces(folder):
    """Traces as MLflow writes them, of a store of files in `folder`."""
    os.environ |= {"MLFLOW_TRACKING_URI": f"file://{folder}", "MLFLOW_ALLOW_FILE_STORE": "true"}
    import mlflow  # noqa: PLC0415  not installed everywhere
    from mlflow.entities import Document, SpanType  # noqa: PLC0415  not installed everywhere

    mlflow.set_experiment("shop")
    texts = []
    for question, answer, found in SHOP:

        @mlflow.trace(span_type=SpanType.RETRIEVER)
        def retrieve(query, found=found):
            return [Document(page_content=text, metadata={"doc_uri": doc}) for doc, text, _ in found]

        @mlflow.trace
        def ask(question, answer=answer):
            retrieve(query=question)
            return answer

        ask(question=question)
        trace = json.loads(mlflow.get_trace(mlflow.get_last_active_trace_id(), flush=True).to_json())
        for facts in (trace["info"]["trace_metadata"], trace["info"]["tags"]):  # of the machine
            for name in [
                name for name in facts if name.startswith(("mlflow.source", "mlflow.user", "mlflow.artifact"))
            ]:
                del facts[name]
        texts.append(json.dumps(trace))
    return texts


def langfuse_rows():
    """Observations as the documentation of Langfuse describes them; no server wrote these."""
    rows = []
    for number, (question, answer, found) in enumerate(SHOP):
        listed = [{"page_content": text, "metadata": {"source": doc}, "type": "Document"} for doc, text, _ in found]
        common = {
            "trace_id": f"trace-{number}",
            "environment": "test",
            "start_time": f"2026-11-0{number + 1} 10:00:00.5",
        }
        chat = {"id": f"s{number}", "type": "SPAN", "parent_observation_id": None, "name": "chat"}
        rows.append(
            common
            | chat
            | {"input": json.dumps({"messages": [{"role": "user", "content": question}]}), "output": answer}
        )
        own = {"id": f"r{number}", "type": "RETRIEVER", "parent_observation_id": f"s{number}", "name": "search"}
        rows.append(common | own | {"input": json.dumps({"k": 5, "filter": {}}), "output": json.dumps(listed)})
    return rows


def main(folder):
    """Write the files of a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "otlp.jsonl").unlink(missing_ok=True)
    otlp(folder / "otlp.jsonl")
    console, spans = openinference_spans()
    (folder / "openinference.json.gz").write_bytes(gzip.compress(console.encode(), mtime=0))
    pq.write_table(to_table(phoenix_rows(spans)), folder / "phoenix.parquet")
    with tempfile.TemporaryDirectory() as store:
        (folder / "mlflow.jsonl").write_text("".join(f"{text}\n" for text in mlflow_traces(store)))
    (folder / "langfuse.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in langfuse_rows()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
