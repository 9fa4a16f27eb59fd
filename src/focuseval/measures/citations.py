"""The papers that define the measures: what to cite with the numbers. The bibliography has the same keys."""

CITATIONS = {
    "goevert2002overview": "N. Gövert, G. Kazai. Overview of the INitiative for the Evaluation of XML retrieval (INEX) "
    "2002. Proceedings of the first INEX workshop, 2003, 1–17.",
    "jarvelin2002cumulated": "K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR techniques. ACM TOIS "
    "20(4), 2002, 422–446.",
    "piwowarski2003expected": "B. Piwowarski, P. Gallinari. Expected ratio of relevant units: a measure for structured "
    "information retrieval. INEX 2003 workshop proceedings.",
    "zhai2003beyond": "C. Zhai, W. W. Cohen, J. Lafferty. Beyond independent relevance: methods and evaluation metrics "
    "for subtopic retrieval. SIGIR 2003, 10–17.",
    "goevert2005effectiveness": "N. Gövert, N. Fuhr, M. Lalmas, G. Kazai. Evaluating the effectiveness of "
    "content-oriented XML retrieval methods. Information Retrieval 9(6), 2006, 699–722.",
    "voorhees2005trec": "E. M. Voorhees, D. K. Harman (eds). TREC: Experiment and Evaluation in Information Retrieval. "
    "MIT Press, 2005.",
    "piwowarski2005precision": "B. Piwowarski, P. Gallinari, G. Dupret. Precision recall with user modeling (PRUM): "
    "application to structured information retrieval. ACM TOIS 25(1), 2007.",
    "kazai2006extended": "G. Kazai, M. Lalmas. eXtended cumulated gain measures for the evaluation of content-oriented "
    "XML retrieval. ACM TOIS 24(4), 2006, 503–542.",
    "pehcevski2006hixeval": "J. Pehcevski, J. A. Thom. HiXEval: highlighting XML retrieval evaluation. INEX 2005, LNCS "
    "3977, 2006, 43–57.",
    "piwowarski2006evaluation": "B. Piwowarski, G. Dupret. Evaluation in (XML) information retrieval: expected "
    "precision-recall with user modelling (EPRUM). SIGIR 2006, 260–267.",
    "kamps2007evaluating": "J. Kamps, M. Lalmas, J. Pehcevski. Evaluating relevant in context: document retrieval with "
    "a twist. SIGIR 2007, 749–750.",
    "lalmas2007inex": "M. Lalmas, G. Kazai, J. Kamps, J. Pehcevski, B. Piwowarski, S. Robertson. INEX 2006 evaluation "
    "measures. INEX 2006, LNCS 4518, 2007, 20–34.",
    "kamps2008inex": "J. Kamps, J. Pehcevski, G. Kazai, M. Lalmas, S. Robertson. INEX 2007 evaluation measures. INEX "
    "2007, LNCS 4862, 2008, 24–33.",
    "arvola2011contextualization": "P. Arvola, S. Geva, J. Kamps, R. Schenkel, A. Trotman, J. Vainio. Overview of the "
    "INEX 2010 ad hoc track. INEX 2010, LNCS 6932, 2011, 1–32.",
    "gutierrez2024hipporag": "B. Jiménez Gutiérrez, Y. Shu, Y. Gu, M. Yasunaga, Y. Su. HippoRAG: neurobiologically "
    "inspired long-term memory for large language models. NeurIPS 2024.",
    "focuseval": "Defined by focuseval; see CITATION.cff in the project's root.",
}
"""Key → reference."""


def reference(key: str) -> str:
    """Return a measure's citation with its key; a user's own measure has a key that nobody else knows.

    >>> reference("voorhees2005trec")[:40]
    'voorhees2005trec: E. M. Voorhees, D. K. '
    """
    return f"{key}: {CITATIONS[key]}" if key in CITATIONS else key
