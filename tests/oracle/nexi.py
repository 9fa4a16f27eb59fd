"""Whether an element's path satisfies a location path, by trying every way to walk it."""


def reaches(steps, path, equivalents=()):
    """`steps` as (axis, names) pairs; `path` like /article[1]/sec[2]."""
    tags = [step.partition("[")[0] for step in path.split("/")[1:]]
    return walk(list(steps), tags, equivalents)


def walk(steps, tags, equivalents):
    if not steps:
        return not tags
    (axis, names), *rest = steps
    return any(
        fits(names, tags[skip], equivalents) and walk(rest, tags[skip + 1 :], equivalents)
        for skip in range(len(tags) if axis == "//" else min(1, len(tags)))
        if not any(tag.startswith("@") for tag in tags[:skip])
    )


def fits(names, tag, equivalents):
    same = {tag}.union(*(group for group in equivalents if tag in group))
    return bool(same & set(names)) or ("*" in names and not tag.startswith("@"))
