"""What modules declare when they are imported: the numbers of other tools, and the measures of the campaigns."""

from importlib import import_module
from importlib.util import find_spec, module_from_spec


def imported(name):
    """Return a module as if it were imported for the first time; dataclasses look for the one that was."""
    import_module(name)
    spec = find_spec(name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_number_of_another_tool_says_which_of_ours_means_the_same_and_what_makes_them_differ():
    peers = imported("focuseval.measures.peers")
    chunks, references, touching = peers._CHUNKS, peers._REFERENCES, peers._TOUCHING

    def share(compute):
        assert compute.func is peers.share
        return compute.keywords["part"], *compute.keywords["whole"]

    *shares, omega = [twin for peer in peers.PEERS for twin in peer.twins]
    declared = {twin.theirs.name: (twin.ours, share(twin.theirs.compute), twin.reasons) for twin in shares}
    assert declared == {
        "legalbenchrag:recall": ("spanR", ("shared", "references"), (chunks, references)),
        "legalbenchrag:precision": ("spanP", ("shared", "chunks"), (chunks, references)),
        "chroma:recall": ("spanR", ("united", "references"), (references,)),
        "chroma:precision": ("spanP", ("united", "chunks"), (chunks,)),
        "chroma:iou": ("IoU", ("united", "chunks", "missed"), (chunks, references)),
    }
    assert (omega.theirs.name, omega.ours, omega.reasons) == ("chroma:precision_omega", "ceiling(IoU)", (touching,))
    assert omega.theirs.compute is peers.chroma_omega


def test_every_number_of_another_tool_has_its_name_its_cut_off_and_its_bounds():
    for peer in imported("focuseval.measures.peers").PEERS:
        for twin in peer.twins:
            measure = twin.theirs
            assert measure.summary == f"{measure.name}, as {peer.name} prints it."
            assert measure.cite == peer.name
            assert measure.at == (() if measure.name == "chroma:precision_omega" else ("rank",))
            assert measure.bounds == (0, float("inf") if peer.name == "legalbenchrag" else 1)


def test_a_campaign_s_measures_are_spelled_out():
    profiles = {profile.name: profile for profile in imported("focuseval.measures.profiles").PROFILES}
    focused = profiles["inex2005"].tasks["focused"]
    assert focused[:2] == ("nxCG(quant=strict5)@10", "nxCG(quant=strict5)@25")
    assert focused[-2:] == ("MAep(quant=genLifted)", "iMAep(quant=genLifted)")
    assert len(focused) == 3 * 8
    gp = "gP(score=bep, n=1000)"
    assert profiles["inex2007"].tasks["best-in-context"] == (
        "MAgP(score=bep, n=1000)",
        *(f"{gp}@5", f"{gp}@10", f"{gp}@25", f"{gp}@50"),
    )
