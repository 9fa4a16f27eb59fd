"""Reports with texts that are hard to show."""

from building import gold_of, run_of
from focuseval.report.build import build_report

LONG = 700_000

HOSTILE = {
    "script": "<script>window.hacked = 1</script> & &amp; <img src=x onerror='window.hacked=2'> </textarea></div>",
    "bidi": "safe \u202egnp.exe\u202c and \u2066isolated\u200f text",
    "rtl": "שלום עולם hello مرحبا بالعالم end",
    "emoji": "One 🚢 two 👩‍👩‍👧‍👦 three 🇫🇷 end 🚢🚢 and 𝕳𝖊𝖑𝖑𝖔 after",
}


def hostile_report():
    judged = {name: {"spans": [(3, len(text) - 5)], "length": len(text), "bep": 4} for name, text in HOSTILE.items()}
    results = [(name, 6, len(text)) for name, text in HOSTILE.items()]
    runs = [run_of({"1": results}, "one"), run_of({"1": results[::-1]}, "two")]
    return build_report(gold_of({"1": judged}), runs, ["charP"], docs=HOSTILE, task="spans")


def long_report():
    """One document of 700,000 characters, 1,000 highlights, and a paragraph that never ends."""
    sentence = "The pilot knows the channel by its marks, and the marks by heart. "
    text = (sentence * 40 + "\n\n") * 200 + sentence * 5000
    text = text[:LONG]
    spans = [(start, start + 200) for start in range(0, LONG - 400, 700)]
    gold = gold_of({"1": {"long": {"spans": spans, "length": LONG, "bep": 0}}})
    runs = [run_of({"1": [("long", s + n * 60, e + n * 90) for s, e in spans]}, f"run-{n}") for n in range(2)]
    return build_report(gold, runs, ["charP"], docs={"long": text}, task="spans")
