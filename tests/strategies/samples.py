"""One valid file of every format."""

SAMPLES = {
    "trec-run": b"301 Q0 d1 1 2.5 VSM\n301 Q0 d2 2 1.5 VSM\n302 Q0 d1 1 0.5 VSM\n",
    "inex-text": b"1 Q0 a 1 2 r /a[1] /a[2]\n1 Q0 a 2 2 r X X\n1 Q0 a 3 2 r -1\n1 Q0 b 4 2 r 6 7\n",
    "inex-fol": b"1 Q0 a 1 2 r 3 4\n1 Q0 a 2 2 r 5 6\n2 Q0 b 1 2 r 6 7\n",
    "inex-xml": b"""<?xml version="1.0"?>
<inex-submission participant-id="12" run-id="R" task="Focused " query="automatic">
<topic-fields title="yes"/><description>R&amp;D</description><collections><collection>wiki</collection></collections>
<topic topic-id="1">
<result><file>9996</file><path>/article[1]/sec[2]</path><rank>1</rank><rsv>0.67</rsv></result>
<result><file>9997</file><path>/article[1]/sec[3]</path><rank>2</rank><rsv>0.57</rsv></result>
</topic><topic topic-id="2">
<result><file>9996</file><path>/article[1]</path><rank>1</rank><rsv>0.6</rsv></result></topic></inex-submission>""",
    "run-jsonl": b"""{"topic": "q1", "doc": "a.md", "rank": 1, "score": 0.83, "start": 1024, "end": 1536}
{"topic": "q1", "doc": "a.md", "rank": 2, "score": 0.5, "text": "The chunk itself."}
{"topic": "q2", "doc": "a.md", "rank": 1, "score": 0.5, "path": "/a[1]", "end_path": "/a[2]"}
""",
    "inex-2002": b"""<assessments topic='31'><file file='co/2000/r7023'>
<path path='/article[1]' relevance='2' coverage='L'/><path path='/article[1]/p[1]' relevance='3' coverage='E'/>
</file><file file='x'/></assessments>""",
    "inex-2003": b"""<assessments pool='41' topic='162'><file file='co/2000/r7023'>
<path path='/article[1]' exhaustiveness='2' specificity='1' inferred='true' inpool='true'/>
<path path='/article[1]/p[1]' exhaustiveness='U' specificity='U'/></file></assessments>""",
    "inex-2005": b"""<assessments pool="7" topic="401" version="2">
<inex_topic topic_id="401"><title>x</title></inex_topic>
<file collection="wikipedia" name="9996"><best-entry-point path="/article[1]/p[2]"/>
<passage start="/article[1]/p[2]/text()[1].0" end="/article[1]/p[3]/text()[2].56" size="812"/>
<element path="/article[1]" exhaustivity="2" size="3046" rsize="812"/></file>
<file collection="wikipedia" name="10013"></file></assessments>""",
    "inex-2008": b"1 Q0 d1 100 400 50 50:60 200:40\n1 Q0 d2 50 100 0 0:50\n1 Q0 d3 0 300\n2 Q0 d9 10 20 5 5:10\n",
    "trec-qrels": b"1 0 d1 1\n1 0 d2 0\n2 0 d1 3\n",
    "gold-jsonl": b"""{"topic": "q1", "doc": "a", "spans": [{"start": 2, "end": 3, "quote": "y"}], "bep": 2}
{"topic": "q1", "query": "q", "doc": "b.md", "spans": []}
{"topic": "q2", "doc": "b.md", "spans": [{"start": 1, "end": 5}], "length": 99}
""",
}
