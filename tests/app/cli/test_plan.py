"""`ordinate plan` through its front door."""


def test_a_plan_names_figures_hours_and_gpus(call):
    answer = call("plan", "positional/rope", "--scale", "smoke")
    assert answer.code == 0
    assert "positional/rope" in answer.out
    assert "1 GPU for 1 day" in answer.out
    document = call("plan", "positional/rope", "--scale", "smoke", "--days", "0.5", "--json").json
    settings = "--scale smoke --teraflops 19.5 --days 0.5"
    assert document["command"] == f"ordinate plan positional/rope {settings} --json"
    assert document["workers"] == {"days": 0.5, "gpus": 1}
    assert {row["figure"] for row in document["rows"]} == {"positional/rope"}


def test_what_cannot_be_planned_is_refused_in_one_line(call):
    assert "did you mean 'positional/rope'" in call("plan", "positional/ropes").error
    answer = call("plan", "positional/rope", "--scale", "huge")
    assert answer.code == 2
    assert "no figure of these has a scale 'huge'" in answer.error


def test_nothing_but_progress_stands_beside_a_plan(ordinate):
    answer = ordinate("plan", "positional/rope", "--scale", "smoke")
    assert answer.code == 0
    assert "Memory block" not in answer.err
