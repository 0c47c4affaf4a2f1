"""Fill the marked places of README and docs from stored results and tested examples: `python tools/fill_docs.py`.

A place is `<!-- KIND: NAME -->`, up to `<!-- end -->`: `table`, `verdicts` or `settings` of a figure, `overview` of a
paper, `bench`, `plan`, `published`, `names` or `code` of a path. With `--check` nothing is written and the exit code
says whether all places are up to date.
"""

import ast
import inspect
import json
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = re.compile(
    r"(<!-- (table|code|verdicts|settings|overview|bench|plan|published|names): (\S+) -->\n).*?(<!-- end -->)",
    re.DOTALL,
)

LANGUAGES = {".py": "python", ".toml": "toml", ".txt": "text"}
MOST_FIGURES = 5
"""Figures that a plan names beside the papers."""


def table(headers: list[str], rows: list[list[str]]) -> str:
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (headers, *rows)]
    head, *body = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(headers), *body]) + "\n"


def result(figure: str) -> dict:
    return json.loads((ROOT / "results" / figure / "result.json").read_text(encoding="utf-8"))


def origin(document: dict) -> str:
    if document["wall_seconds"] is None:
        took = f"{document['training_seconds'] / 60:.0f} minutes of training in all, {document['workers']} at a time"
    else:
        seconds, workers = document["wall_seconds"], document["workers"]
        took = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
        took += f" on {workers} core{'s' if workers > 1 else ''}"
    revision = (document["environment"].get("revision") or "unknown")[:10]
    drawn = f"{document['environment']['cpu']}, revision {revision}"
    models = document.get("trained_at", [])
    if len(models) == 1 and models[0].startswith(f"{revision}, "):
        models = []
    trained = f" Models: {'; '.join(models)}." if models else ""
    return f"\n`{document['command']}`, {took}, {drawn}.{trained}\n"


VERDICTS = ("supported", "inconclusive", "contradicted")


def overview(paper: str) -> str:
    """One row a stored figure: how many of its claims got which verdict."""
    rows = []
    for path in sorted((ROOT / "results" / paper).glob("*/result.json"), key=natural):
        document = json.loads(path.read_text(encoding="utf-8"))
        given = [claim["verdict"] for claim in document["claims"]]
        counts = [str(given.count(verdict) or "") for verdict in VERDICTS]
        rows.append([f"`{document['figure']}`", *counts])
    return table(["figure", *VERDICTS], rows)


def natural(path: Path) -> list[tuple[int, str]]:
    """Numbers in a name by their value: fig-9 before fig-10."""
    return [(int(part or 0), rest) for part, rest in re.findall(r"(\d*)(\D*)", path.parent.name)]


def settings(document: dict) -> str:
    return table(["setting", ""], [[key, str(value)] for key, value in document["settings"].items()])


def benchmarks(document: dict) -> str:
    rows = [
        [
            row["section"],
            row["measure"],
            f"{row['value']:.3g}",
            row["unit"],
            "" if row["target"] is None else f"{row['target']:.3g}",
            {True: "met", False: "missed", None: ""}[row["ok"]],
        ]
        for row in document["rows"]
    ]
    revision = (document["environment"].get("revision") or "unknown")[:10]
    made = f"\n`{document['command']}`, {document['environment']['cpu']}, revision {revision}.\n"
    return table(["section", "measure", "value", "unit", "target", ""], rows) + made


def planned(document: dict) -> str:
    """One row a paper, the most expensive figures below theirs, and the sum."""
    rows, total, days = document["rows"], document["total"], document["workers"]["days"]
    dear = sorted(rows, key=lambda row: -row["hours_gpu"])[:MOST_FIGURES]
    lines = []
    for paper in dict.fromkeys(row["figure"].split("/")[0] for row in rows):
        own = [row for row in rows if row["figure"].split("/")[0] == paper]
        lines.append(plan_row(f"**{paper}**", own, days))
        lines += [plan_row(row["figure"], [row], days) for row in own if row in dear]
    headers = [
        "",
        "runs",
        "largest model",
        "GB",
        "hours here",
        "GPU hours",
        f"GPUs for {days:g} day{'s' * (days != 1)}",
    ]
    peak = document["gpu"]["teraflops"]
    share = total["operations"] / (total["hours_gpu"] * 3600 * peak * 1e12)
    revision = (document["environment"].get("revision") or "unknown")[:10]
    made = (
        f"\n`{document['command']}`, {document['environment']['cpu']}, revision {revision}. Hours here are of one "
        f"thread. In these hours a GPU of {peak:g} TFLOP/s is taken to reach {share:.2g} of its peak.\n"
    )
    return table(headers, [*lines, plan_row("**all**", rows, days)]) + made


def plan_row(name: str, rows: list[dict], days: float) -> list[str]:
    hours = sum(row["hours_gpu"] for row in rows)
    parameters = max(row["parameters"] for row in rows)
    return [
        name,
        str(sum(row["runs"] for row in rows)),
        f"{short(parameters / 1e6)} M" if parameters >= 1e6 else f"{short(parameters / 1e3)} k",
        short(max(row["gigabytes"] for row in rows)),
        short(sum(row["hours_here"] for row in rows)),
        short(hours),
        str(math.ceil(hours / (24 * days))),
    ]


def published(document: dict) -> str:
    """One row a paper of others: its lengths, its number and where it stands."""
    rows = [
        [
            f"`{name}`",
            *(str(facts[key] or "") for key in ("trained", "tested")),
            *(facts[key] for key in ("measure", "number", "source")),
        ]
        for name, facts in document.items()
        if name != "about"
    ]
    return table(["recipe", "trained to", "measured to", "what", "published", "source"], rows)


GROUPS = {
    "Relations": ("ordinate.relations",),
    "Layout": ("ordinate.coordinates",),
    "Attention": ("ordinate.attention",),
    "Encodings": ("ordinate.encodings",),
    "Models": ("ordinate.models", "ordinate.lab.zoo", "ordinate"),
    "Tasks": ("ordinate.lab.tasks",),
    "Training": ("ordinate.lab.training", "ordinate.lab.runs", "ordinate.lab.evaluation"),
    "Looking inside": ("ordinate.lab.structure", "ordinate.lab.explain", "ordinate.papers.theory"),
    "Programs": ("ordinate.lab.programs",),
    "Figures": ("ordinate.papers",),
    "Errors": ("ordinate.errors",),
}
"""Public names by the modules that they are imported from; the most exact module decides."""


def names(stub: str) -> str:
    """The public names in groups, each with the first sentence of its docstring and a link to the whole of it."""
    import ordinate

    rows: dict[str, list[list[str]]] = {title: [] for title in GROUPS}
    for line in ast.parse(stub).body:
        if isinstance(line, ast.ImportFrom):
            for alias in line.names:
                value = getattr(ordinate, alias.name)
                path = f"{line.module}.{alias.name}"
                if path in sys.modules and not inspect.ismodule(
                    value
                ):  # a function in a file of its own name
                    path += f".{alias.name}"
                said = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
                rows[group(line.module)].append([f"[`od.{alias.name}`]({page(path)}.md#{path})", said])
    parts = [f"\n## {title}\n\n{table(['name', 'what it is'], listed)}" for title, listed in rows.items()]
    return "".join(parts) + "\n"


def group(module: str) -> str:
    fitting = (
        (m, title) for title, modules in GROUPS.items() for m in modules if f"{module}.".startswith(f"{m}.")
    )
    return max(fitting)[1]


def page(path: str) -> str:
    """The page of the reference that describes a name."""
    parts = path.split(".")[1:]
    if parts[0] == "lab":
        return parts[1] if parts[1] in ("tasks", "programs") else "lab"
    return "papers" if parts[0] == "papers" else "core"


def short(value: float) -> str:
    """Two digits that count, and never an exponent."""
    return f"{float(f'{value:.2g}'):,.15f}".rstrip("0").rstrip(".")


DRAWN = {"bench": benchmarks, "plan": planned, "published": published}
"""Kinds whose name is the path of a document."""


def filled(kind: str, name: str) -> str:
    if kind == "code":
        return f"```{LANGUAGES[Path(name).suffix]}\n{(ROOT / name).read_text(encoding='utf-8')}```\n"
    if kind == "names":
        return names((ROOT / name).read_text(encoding="utf-8"))
    if kind in DRAWN:
        return DRAWN[kind](json.loads((ROOT / name).read_text(encoding="utf-8")))
    if kind == "overview":
        return overview(name)
    document = result(name)
    if kind == "settings":
        return settings(document)
    if kind == "table":
        return table(**{k: document["table"][k] for k in ("headers", "rows")}) + origin(document)
    rows = [
        [
            claim["sentence"],
            claim["verdict"] or "no verdict",
            ("{estimate:.4g}" if claim.get("exact") else "{estimate:.3g} [{low:.3g}, {high:.3g}]").format(
                **claim["measured"]
            ),
            claim["predicate"]["text"],
            f"{claim['published']:.3g}" if claim["published"] else "",
            "exact" if claim.get("exact") else f"{claim['seeds'] - claim['failed']} of {claim['seeds']}",
        ]
        for claim in document["claims"]
    ]
    return table(["claim", "verdict", "measured", "asked", "published", "seeds"], rows) + origin(document)


def fill(text: str) -> str:
    return PLACE.sub(lambda match: match[1] + filled(match[2], match[3]) + match[4], text)


def main(check: bool) -> int:
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if fill(text) != text:
            stale.append(path.relative_to(ROOT))
            if not check:
                path.write_text(fill(text), encoding="utf-8")
    for path in stale:
        print(f"{path} {'is out of date: run python tools/fill_docs.py' if check else 'filled'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
