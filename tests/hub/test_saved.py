"""Models with our attention come back from files as they were, or not at all."""

import copy
import json
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    MixtralConfig,
    MixtralForCausalLM,
)

from ordinate.attention import ContentClass
from ordinate.encodings import Pairwise, Shaw, Upe
from ordinate.errors import OrdinateError
from ordinate.hub import load, load_class_vectors, put_attention
from ordinate.relations import everywhere, relative, where, window
from tests.hub.hosts import (
    ENCODINGS,
    LLAMAS,
    NAMED,
    PLACES,
    bert,
    draw,
    gpt2,
    host,
    numbers,
    states,
    words,
)

KINDS = [BertForMaskedLM, BertModel, GPT2LMHeadModel, GPT2Model]
of_kinds = pytest.mark.parametrize("kind", KINDS)
VECTORS = "h.0.attn.class_vectors.tables.0"


def of_kind(kind, **changes):
    return (bert if kind.__name__.startswith("Bert") else gpt2)(kind, **changes)


def told(model, tokens=9):
    """What a model says, with the vectors of a head or without one."""
    return model(words(tokens))[0]


def saved(folder, model):
    draw(model).save_pretrained(folder)
    return model


def rewrite(folder, **entry):
    """Change what config.json says of the attention."""
    path = folder / "config.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"ordinate": document["ordinate"] | entry}))


PUT = [
    (Shaw(clip=3), {}),
    (Shaw(clip=3, per_head=True), {"positions": "remove"}),
    (Pairwise(relation=(relative(clip=2) * window(4, 4), everywhere())), {"trained": 12}),
    (Pairwise(relation=relative() * window(2)), {"form": ContentClass(), "positions": "remove"}),
]


@of_kinds
@pytest.mark.parametrize(("encoding", "options"), PUT)
def test_a_model_is_opened_as_it_was_saved(kind, encoding, options, tmp_path):
    model = saved(tmp_path, put_attention(of_kind(kind), encoding, **options))
    again = load(tmp_path)
    assert type(again) is kind
    assert not again.training
    assert torch.equal(told(again), told(model))
    if options.get("positions") == "remove":
        assert torch.equal(told(again, 3 * PLACES), told(model, 3 * PLACES))
    assert again.config.to_dict() == model.config.to_dict()
    again.save_pretrained(tmp_path / "again")
    assert torch.equal(told(load(tmp_path / "again")), told(model))


@pytest.mark.parametrize("name", NAMED)
def test_every_host_is_opened_as_it_was_saved_and_by_nobody_else(name, tmp_path):
    number = list(NAMED).index(name)
    encoding = ENCODINGS[("fire", "alibi", "pairwise", "rope", "kerple-power")[number % 5]]
    for positions in ("keep", "remove"):
        folder = tmp_path / positions
        model = put_attention(host(name), encoding, positions=positions)
        model.save_pretrained(folder)
        again = load(folder)
        assert torch.equal(states(again, words(9)), states(model, words(9)))
        assert again.config.to_dict() == model.config.to_dict()
        assert again.config.ordinate["positions"] == positions
        with pytest.raises(ValueError, match=r"ordinate\.hub\.load"):
            AutoModel.from_pretrained(folder)


@pytest.mark.parametrize("name", ["llama", "gemma3", "inkling", "t5"])
def test_half_the_precision_comes_back(name, tmp_path):
    """Of a host as transformers opens it, which keeps some weights and the angles of its rotations in full."""
    host(name).float().save_pretrained(tmp_path / "plain")
    opened = AutoModel.from_pretrained(tmp_path / "plain", dtype=torch.bfloat16)
    model = put_attention(opened, ENCODINGS["alibi"])
    model.save_pretrained(tmp_path / "ours")
    again = load(tmp_path / "ours")
    assert again.dtype == torch.bfloat16
    assert torch.equal(states(again, words(9)), states(model, words(9)))


@pytest.mark.parametrize(("positions", "absolute"), [("keep", True), ("remove", False)])
def test_an_entry_of_before_is_read(positions, absolute, tmp_path):
    model = saved(tmp_path, put_attention(gpt2(), Shaw(clip=3), positions=positions))
    path = tmp_path / "config.json"
    document = json.loads(path.read_text())
    del document["ordinate"]["positions"]
    document["ordinate"]["absolute"] = absolute
    path.write_text(json.dumps(document))
    again = load(tmp_path)
    assert torch.equal(told(again), told(model))
    assert again.config.ordinate["positions"] == positions


def test_parameters_of_any_encoding_are_read_into_a_model_with_another_head(tmp_path):
    model = put_attention(bert(BertForMaskedLM), ENCODINGS["kerple-log"])
    model.save_pretrained(tmp_path)
    torch.manual_seed(1)
    other = put_attention(bert(BertForSequenceClassification), ENCODINGS["kerple-log"])
    assert not torch.allclose(told(other.bert), told(model.bert))
    load_class_vectors(other, tmp_path)
    assert torch.equal(told(other.bert), told(model.bert))


@pytest.mark.parametrize("size", ["50GB", "20KB"])
def test_experts_and_weights_in_several_files_come_back(size, tmp_path):
    """Where transformers writes weights under other names than those of the model."""
    options = LLAMAS | {"num_local_experts": 2}
    model = MixtralForCausalLM(MixtralConfig(**options)).eval()
    put_attention(model, ENCODINGS["pairwise"], positions="remove")
    model.save_pretrained(tmp_path, max_shard_size=size)
    assert (tmp_path / "model.safetensors").is_file() == (size == "50GB")
    assert torch.equal(told(load(tmp_path)), told(model))


def test_precision_and_settings_of_generation_come_back(tmp_path):
    model = put_attention(gpt2(GPT2LMHeadModel), Shaw(clip=3)).bfloat16()
    model.generation_config.max_new_tokens = 7
    saved(tmp_path, model)
    again = load(tmp_path)
    assert again.dtype == torch.bfloat16
    assert again.generation_config.max_new_tokens == 7
    assert torch.equal(told(again), told(model))


def test_coordinates_of_ones_own_are_asked_for_again(tmp_path):
    model = saved(tmp_path, put_attention(bert(), Upe(fields=("second",), clip=2), coordinates=numbers))
    assert torch.equal(told(load(tmp_path, coordinates=numbers), 8), told(model, 8))
    with pytest.raises(
        OrdinateError, match=r"have other coordinates: write load\(folder, coordinates=\.\.\.\)"
    ):
        load(tmp_path)


@of_kinds
@pytest.mark.parametrize("positions", ["keep", "remove"])
def test_transformers_alone_refuses_to_open_it_without_its_vectors(kind, positions, tmp_path):
    saved(tmp_path, put_attention(of_kind(kind), Shaw(clip=3), positions=positions))
    for opener in (kind, AutoModelForCausalLM):
        with pytest.raises(ValueError, match=r"ordinate\.hub\.load"):
            opener.from_pretrained(tmp_path)


def test_other_models_of_the_same_config_stay_as_they_are(tmp_path):
    config = gpt2().config
    plain, one, other = (GPT2Model(config).double().eval() for _ in range(3))
    before = told(plain)
    put_attention(one, Shaw(clip=3))
    put_attention(other, Shaw(clip=2), positions="remove")
    assert torch.equal(told(plain), before)
    plain.save_pretrained(tmp_path / "plain")
    torch.testing.assert_close(told(GPT2Model.from_pretrained(tmp_path / "plain")), before)
    for name, model in {"one": one, "other": other}.items():
        saved(tmp_path / name, model)
        assert torch.equal(told(load(tmp_path / name)), told(model))


def test_the_last_attention_that_was_put_in_is_the_one_that_comes_back(tmp_path):
    model = put_attention(gpt2(), Pairwise(relation=everywhere()), positions="remove")
    saved(tmp_path, put_attention(model, Shaw(clip=3)))
    assert torch.equal(told(load(tmp_path), 3 * PLACES), told(model, 3 * PLACES))


def without_vectors(folder):
    path = folder / "model.safetensors"
    save_file({name: t for name, t in load_file(path).items() if name != VECTORS}, path)


def without_entry(folder):
    gpt2().save_pretrained(folder)


def cut_short(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def of_nobody(folder):
    path = folder / "config.json"
    path.write_text(path.read_text().replace("GPT2Model", "Mine"))


BROKEN = [
    (without_vectors, rf"does not hold the model of config\.json: .*Missing.*{VECTORS}"),
    (without_entry, "names no encoding: save a model after put_attention"),
    (cut_short, "does not hold the model of config.json"),
    (of_nobody, r"is of Mine, which transformers does not have: .*load_class_vectors"),
    (lambda folder: (folder / "model.safetensors").unlink(), r"holds no model\.safetensors"),
    (lambda folder: (folder / "config.json").unlink(), "cannot read .*config.json"),
    (lambda folder: (folder / "config.json").write_text("["), "config.json is not readable JSON"),
    (
        lambda folder: rewrite(folder, encoding={"kind": "shaw", "clip": 5}),
        "model of config.json: .*size mismatch",
    ),
    (lambda folder: rewrite(folder, positions="remove"), r"model of config\.json: .*unexpected.*wpe\.weight"),
    (lambda folder: rewrite(folder, encoding="wave"), "ordinate.encoding.kind = 'wave' is not known"),
    (lambda folder: rewrite(folder, version=2), "ordinate.version = 2 is not allowed"),
    (lambda folder: rewrite(folder, more=1), "unknown key 'ordinate.more'"),
]


@pytest.mark.parametrize(("spoil", "message"), BROKEN)
def test_what_does_not_fit_is_not_opened(spoil, message, tmp_path):
    saved(tmp_path, put_attention(gpt2(), Shaw(clip=3)))
    spoil(tmp_path)
    with pytest.raises(OrdinateError, match=message) as refusal:
        load(tmp_path)
    assert "\n" not in str(refusal.value)


def is_near(reach, query, key):
    return (query.index - key.index).abs() < reach


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda query, key: is_near(3, query, key), r"relation.function = .*<lambda>' is not there"),
        (partial(is_near, 3), r"ordinate.encoding.kind = .*partial.* is not known"),
    ],
    ids=["lambda", "partial"],
)
def test_a_relation_of_a_function_without_a_name_is_not_opened(function, message, tmp_path):
    back = Pairwise(relation=where(function))
    model = saved(tmp_path, put_attention(bert(), back))
    with pytest.raises(OrdinateError, match=f"config.json: {message}"):
        load(tmp_path)
    again = put_attention(bert(), back)
    again.load_state_dict(model.state_dict())
    assert torch.equal(told(again), told(model))


def test_vectors_alone_are_read_into_a_model_with_another_head(tmp_path):
    model = saved(tmp_path, put_attention(bert(BertForMaskedLM), Shaw(clip=3)))
    opened = BertForSequenceClassification.from_pretrained(
        tmp_path, attn_implementation="eager", dtype=torch.double
    )
    put_attention(opened, Shaw(clip=3))
    assert not torch.allclose(told(opened.bert), told(model.bert))
    load_class_vectors(opened, tmp_path)
    assert torch.equal(told(opened.bert), told(model.bert))


OTHER = [
    (Shaw(clip=5), {}, r"encoding \{.*'clip': 5.*\} instead of \{.*'clip': 3"),
    (Shaw(clip=3), {"form": ContentClass()}, "form .*content-class.* instead of .*content"),
    (Shaw(clip=3), {"positions": "remove"}, "positions remove instead of keep"),
    (Shaw(clip=3), {"trained": 10}, "trained 10 instead of 24"),
    (Pairwise(relation=relative(clip=3), per_head=False), {}, "another attention.* encoding"),
]


@pytest.mark.parametrize(("encoding", "options", "message"), OTHER)
def test_vectors_of_another_attention_are_refused(encoding, options, message, tmp_path):
    saved(tmp_path, put_attention(gpt2(), Shaw(clip=3)))
    model = put_attention(gpt2(), encoding, **options)
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(OrdinateError, match=message) as refusal:
        load_class_vectors(model, tmp_path)
    assert "\n" not in str(refusal.value)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_vectors_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(OrdinateError, match=r"write put_attention\(model, \.\.\.\) first"):
        load_class_vectors(gpt2(), tmp_path)
    model = put_attention(gpt2(), Shaw(clip=3))
    with pytest.raises(OrdinateError, match=r"holds no model\.safetensors"):
        load_class_vectors(model, tmp_path)
    gpt2().save_pretrained(tmp_path)
    with pytest.raises(OrdinateError, match="save a model after put_attention"):
        load_class_vectors(model, tmp_path)
    saved(tmp_path, model)
    without_vectors(tmp_path)
    with pytest.raises(OrdinateError, match=f"holds no '{VECTORS}'"):
        load_class_vectors(model, tmp_path)
    config = GPT2Config(vocab_size=5, n_embd=32, n_layer=2, n_head=4, n_positions=PLACES, eos_token_id=0)
    saved(tmp_path, put_attention(GPT2Model(config), Shaw(clip=3)))
    with pytest.raises(OrdinateError, match=r"class vectors of another model: .*size mismatch"):
        load_class_vectors(model, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(OrdinateError, match="class vectors of another model"):
        load_class_vectors(model, tmp_path)


def test_copies_in_memory_are_equal():
    model = draw(put_attention(gpt2(GPT2LMHeadModel), Shaw(clip=3)))
    again = put_attention(gpt2(GPT2LMHeadModel, initializer_range=0.1), Shaw(clip=3))
    again.load_state_dict(model.state_dict())
    assert torch.equal(told(again), told(model))
    assert torch.equal(told(copy.deepcopy(model)), told(model))
