"""Bad input is one line that says what to write instead, and exit code 2; a fault of the program is 70."""

import pytest

from ordinate.app.cli.failures import describe
from ordinate.errors import OrdinateError

DECODER = "--set model.kind=decoder --set model.heads=2"
ENCODER = "--set model.kind=encoder --set model.encoding"
REFUSED = {
    "sampel sum": "did you mean 'sample'?",
    "frobnicate": "known: advise, bench, compile, construct, discover",
    "sample medain": "did you mean 'median'?",
    "sample sum --lenght 3": "ordinate sample has no option '--lenght': did you mean '--length'?",
    "sample sum --length three": "'--length'",
    "sample sum --length 0": "length",
    "sample sum --length -3": "length",
    "sample sum --length 5000": "4096",
    "sample sum --scale 0": "scale must be above 0",
    "sample sum --scale -2": "scale must be above 0",
    "sample sum --scale nan": "scale must be above 0",
    "sample sum --count 0": "count must be at least 1",
    "sample sum --count 1000000000": "write --count 62500 or fewer",
    "sample": "missing argument 'TASK': see ordinate sample --help",
    "sample sum sort": "unexpected extra argument",
    "sample addition --scale 2": "task 'addition' has no axis 'scale'",
    "sample k-hop --length 4": "3 hops need at least 5 letters, got 4: write hops=2, or length=5",
    "sample k-hop --set alphabet=1": "task.alphabet = 1 is not allowed",
    "sample k-hop --axis hops=9": "hops must be a whole number from 0 to 3, got 9",
    "sample mixed --set high=dear": "task.high = 'dear' is not allowed",
    "sample mixed --input Cata": "write 'Cata 1.50",
    "sample bfs --input 1": "undirected graph",
    "sample bfs --axis density=2": "density must be 0 to 1",
    "sample sum --input 1 --scale 2": "leave --axis and --scale out",
    "sample addition --input 1": "'1' is not understood: write 2 whole numbers and a sign",
    "sample addition --axis cascad=2": "did you mean 'cascade'?",
    "sample addition --axis cascade=1:3": "write one, such as cascade=1",
    "sample addition --axis cascade": "is not understood",
    "sample addition --axis cascade=9": "cascade must be a whole number from 0 to 5",
    "sample addition --axis length=2.5": "length 2.5 is not a whole number",
    "sample addition --set digit=3": "unknown key 'task.digit': did you mean 'digits'?",
    "sample addition --set digits": "write --set digits=3",
    "sample addition --set name=sum": "write its name after the command",
    "sample addition --set digits=0": "task.digits = 0 is not allowed",
    "sample ring --length 5": "write places=5",
    "discover": "missing argument 'TASK'",
    "discover additoin": "did you mean 'addition'?",
    "discover addition --count 0": "'--count'",
    "discover addition --count 100": "write --count 10000 or more",
    "discover addition --threshold 0": "write --threshold 0.001",
    "discover addition --threshold nan": "write --threshold 0.001",
    "discover addition --set words=2": "without words and in the padded format",
    "relations --show aligned": "add --task addition",
    "relations --task addition": "go with --show",
    "relations --task additoin --show aligned": "did you mean 'addition'?",
    "relations --task addition --show alinged": "did you mean 'aligned'?",
    "relations --task addition --show {{kind=": "is not a TOML value",
    'relations --task addition --show {{kind="window"}}': "'relation.back' is missing: add it",
    'relations --task addition --show {{kind="aligned",fields=["frist"]}}': "did you mean 'first'?",
    'relations --task addition --show {{kind="where",function="os:getcwd"}}': "cannot be asked about pairs",
    'relations --task addition --show {{kind="where",function="a:b"}}': "is not there: import a",
    "relations --task addition --length 0 --show aligned": "length",
    "--json tasks": "--json comes after the command",
    "train": "missing argument 'RECIPE'",
    "train nowhere/at-all.toml": "there is no recipe 'nowhere/at-all.toml'",
    'relations --task addition --show {{kind="union",of=5}}': "write a list of relations",
    'relations --task addition --show {{kind="product",of=[]}}': "write a list of relations",
    "sample sum --seed -1": "'--seed': it should be greater than or equal to 0",
    "discover addition --seed 9223372036854775808": "'--seed'",
    "sample sum --axis length=nan": "length nan is not a whole number",
    "train {recipe} --seeds 0": "'--seeds': it should be greater than or equal to 1",
    "train {recipe} --seeds 1000000000": "'--seeds': it should be less than or equal to 10000",
    "train {recipe} --seed -1": "a seed cannot be -1",
    "train {recipe} --seeds 2 --seed 1": "exclude each other",
    "train {recipe} --threads 0": "'--threads'",
    "train {recipe} --set steps": "write --set training.steps=100",
    "train {recipe} --set training.stpes=3": "did you mean 'steps'?",
    "train {recipe} --set training.steps=0": "training.steps = 0 is not allowed",
    "train {recipe} --set task.name=medain": "did you mean 'median'?",
    "train {recipe} --set model.encoding=one-hto": "did you mean 'one-hot'?",
    "train {recipe} --set evaluation.axes.scle=2": "evaluation.axes",
    "train {recipe} --set evaluation.axes.length=[nan]": "length = nan is not allowed, it should be a finite number",
    "train {recipe} --set evaluation.axes.length=[1e300]": "length must be 1 to 4096",
    "train {recipe} --set evaluation.axes.length=[2.5]": "evaluation: length 2.5 is not a whole number",
    "train {recipe} --set evaluation.axes.scale=[0]": "evaluation: scale must be above 0",
    "train {recipe} --set training.pick={{axis='scale',value=inf}}": "training.pick.value = inf is not allowed",
    "train {recipe} --set training.pick={{value=2,cout=3}}": "unknown key 'training.pick.cout': did you mean 'count'?",
    "train {recipe} --set training.optimizer.betas=[1.0,0.9]": "betas = 1.0 is not allowed, it should be less than 1",
    "train {recipe} --set training.optimizer.betas=[0.9,nan]": "betas = nan is not allowed",
    "train {recipe} --set training.steps=0x"
    + "f" * 5000: "a whole number cannot have 20000 bits: at most 63",
    "train {recipe} --set training.x=" + "[" * 3000: "TOML cannot be nested more than 100 deep",
    "train {recipe} --set training.x=" + "[" * 300 + "]" * 300: "TOML cannot be nested more than 100 deep",
    "train {recipe} --set a" + ".a" * 3000 + "=1": "write --set training.steps=100",
    f"train {{recipe}} {DECODER} --set model.encoding=shaw": "relates every token to those before it",
    f"train {{recipe}} {ENCODER}=['shaw','shaw']": "one encoding at most can have a relation",
    f"train {{recipe}} {ENCODER}={{{{kind='pairwise',relation={{{{kind='union',of=1}}}}}}}}": "a list of relations",
    "train {folder}": "cannot read the recipe",
    "evaluate nothing --store {folder}": "there is no run 'nothing'",
    "explain nothing --store {folder}": "the package has addition-absolute",
    "runs --store nowhere": "there is no folder 'nowhere'",
    "runs --task medain": "did you mean 'median'?",
    "runs --model standrad": "did you mean 'standard'?",
    "runs --status doen": "did you mean 'done'?",
    "runs --where batch": "write --where training.batch=256",
    "runs --compare one": "needs two runs or more",
    "reproduce positonal/value-scale": "did you mean 'positional/value-scale'?",
    "reproduce --scale smok": "did you mean 'smoke'?",
    "reproduce --workers 0 --scale smoke": "workers cannot be 0",
    "report nowhere": "there is no folder 'nowhere'",
    "report {folder}": "holds neither a run nor a result.json",
    "compile prefix-sun": "did you mean 'prefix-sum'?",
    "compile sort --n 0": "runs on 1 to 4096 processors",
    "compile sort --n 5000": "4096",
    "compile sort --dense": "add --out FOLDER",
    "compile sort --dtype float23": "did you mean 'float32'?",
    "compile sort --out {recipe}": "cannot write",
    "compile fft --n 12": "needs a power of two processors: write --n 8 or 16",
    "compile kth-smallest --n 2": "write --n 3",
    "compile prefx-sum --table": "did you mean 'prefix-sum'?",
    "verify": "missing argument 'FILE|PROGRAM'",
    "verify additoin": "did you mean 'addition'?",
    "verify addition --count 0": "'--count'",
    "verify addition --n three": "'--n'",
    "prove": "missing argument 'RUN'",
    "prove nothing-there": "no run",
    "prove addition-relation": "is not given as an exact machine",
    "verify {recipe}.json": "there is no file",
    "bench trhoughput": "did you mean 'throughput'?",
}


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:100])
@pytest.mark.parametrize("json", [False, True], ids=["text", "json"])
def test_bad_input_is_one_line(call, recipe, tmp_path, monkeypatch, command, json):
    monkeypatch.chdir(tmp_path)
    words = command.format(recipe=recipe, folder=tmp_path).split()
    if json and words[0] == "--json":
        pytest.skip("is about --json itself")
    answer = call(*words, *(["--json"] if json else []))
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.error.startswith("error: ")
    assert REFUSED[command] in answer.error
    assert not list(tmp_path.iterdir())


def test_a_page_is_not_written_over_a_folder(call, store, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    answer = call("report", store, "--out", ".")
    assert answer.code == 2
    assert "cannot write '.', which is a folder: add the name of a file" in answer.error
    assert not list(tmp_path.iterdir())


def test_long_values_are_quoted_in_part(call, recipe):
    answer = call("train", recipe, "--set", f"evaluation.axes.scale={[1.5] * 20_000}")
    assert answer.code == 2
    assert "evaluation.axes.scale = [1.5, 1.5" in answer.error
    assert "at most 10000" in answer.error
    assert len(answer.error) < 600


def test_the_nearest_command_in_a_process_of_its_own(ordinate):
    answer = ordinate("trian", "recipe.toml")
    assert (answer.code, answer.error) == (2, "error: there is no command 'trian': did you mean 'train'?")


@pytest.mark.parametrize(
    ("task", "text", "line"),
    [
        ("k-hop", "3 abab", "3 hops need at least 5 letters, got 4"),
        ("k-hop", "1 abyz", "letter 'z' is not among the 10 of this alphabet: write alphabet=13"),
        ("mixed", "Cata dear. Find sum of categories Cata.", "price 'dear' of Cata is not a number"),
        ("bfs", "0 1 1 / 1 0 1", "square, got 2 rows, one of 3 numbers: write 0 1 / 1 0"),
    ],
)
def test_inputs_that_cannot_be_read(call, task, text, line):
    answer = call("sample", task, "--input", text)
    assert (answer.code, answer.out) == (2, "")
    assert line in answer.err
    assert answer.err.count("\n") == 1


def test_an_axis_the_task_has_not(call, store):
    answer = call("evaluate", "other", "--store", store, "--axis", "scle=1:3")
    assert answer.code == 2
    assert "did you mean 'scale'?" in answer.error


def test_a_length_the_model_cannot_take(call, store):
    answer = call("evaluate", "other", "--store", store, "--axis", "length=5")
    assert answer.code == 2
    assert "length" in answer.error


def test_a_step_without_checkpoint(call, store):
    answer = call("evaluate", "other", "--store", store, "--axis", "scale=2", "--step", 7)
    assert answer.code == 2
    assert "choose one of 20" in answer.error


def test_a_fault_of_the_program_is_one_line(call, monkeypatch):
    def broken(self, *arguments, **options):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.delenv("ORDINATE_DEBUG", raising=False)
    monkeypatch.setattr("ordinate.lab.tasks.numbers.Numbers.sample", broken)
    answer = call("sample", "sum")
    assert answer.code == 70
    assert "unexpected ZeroDivisionError: two lines; run again with ORDINATE_DEBUG=1" in answer.error
    monkeypatch.setenv("ORDINATE_DEBUG", "1")
    assert "Traceback" in call("sample", "sum").err


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        (OrdinateError("a\n  b"), "error: a b", 2),
        (
            PermissionError(13, "Permission denied", "x.json"),
            "error: cannot use x.json: permission denied",
            2,
        ),
        (MemoryError(), "error: the memory is full", 2),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "error: the memory is full", 2),
        (KeyError("x"), "error: unexpected KeyError", 70),
    ],
)
def test_describe(error, line, code):
    text, found = describe(error)
    assert text.startswith(line)
    assert found == code
