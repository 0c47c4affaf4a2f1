"""Every encoding in every host; and what needs packages of other versions, which are installed for the test alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ordinate.encodings import Shaw
from ordinate.hub import load, put_attention
from tests.hub.hosts import ENCODINGS, NAMED, bert, host, states, words
from tests.hub.test_hosts import assert_is_the_formula

MASK = torch.tensor([[1] * 10, [1] * 6 + [0] * 4])


@pytest.mark.parametrize("positions", ["keep", "remove"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", NAMED)
def test_every_encoding_in_every_host_is_the_formula_and_comes_back(name, encoding, positions, tmp_path):
    model = put_attention(host(name), ENCODINGS[encoding], positions=positions)
    assert_is_the_formula(model, MASK)
    model.save_pretrained(tmp_path)
    assert torch.equal(states(load(tmp_path), words(9)), states(model, words(9)))


GENERATING = [name for name in NAMED if name not in ("bert", "roberta", "distilbert", "electra")]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", GENERATING)
def test_generation_with_a_cache_and_padding_is_that_without(name, encoding):
    kind = {"gpt2": "LMHeadModel", "t5": "ForConditionalGeneration"}.get(name, "ForCausalLM")
    model, given = put_attention(host(name, kind), ENCODINGS[encoding], positions="remove"), words(6)
    options = {"max_new_tokens": 12, "min_new_tokens": 12, "do_sample": False}
    padding, there = torch.zeros(2, 3, dtype=torch.long), torch.ones_like(given)
    anew = model.generate(given, attention_mask=there, use_cache=False, **options)
    padded = model.generate(
        torch.cat([padding, given], 1), attention_mask=torch.cat([padding, there], 1), **options
    )
    assert torch.equal(anew[:, -12:], padded[:, -12:])


def with_packages(folder, *packages):
    """An environment in which these packages go before those that are there."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot install {', '.join(packages)}: {done.stderr.strip().splitlines()[-1:]}")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}


BERT_OF_BEFORE = """
import sys, torch, transformers
from safetensors.torch import load_file, save_file
assert transformers.__version__.startswith("4.57"), transformers.__version__
config = transformers.BertConfig(position_embedding_type="relative_key", attn_implementation="eager", **{sizes})
model = transformers.BertModel(config, add_pooling_layer=False).double().eval()
torch.manual_seed(0)
for parameter in model.parameters():
    if parameter.dim() > 1:
        torch.nn.init.normal_(parameter, std=0.5)
given = torch.load(sys.argv[1] + "/words.pt")
said = model(given["words"], attention_mask=given["mask"]).last_hidden_state
said[given["mask"].bool()].square().mean().backward()
tensors = {{"said": said.detach()}}
for name, parameter in model.named_parameters():
    tensors["weight." + name] = parameter.detach()
    if parameter.grad is not None:
        tensors["grad." + name] = parameter.grad
save_file({{name: t.contiguous() for name, t in tensors.items()}}, sys.argv[1] + "/told.safetensors")
"""


def test_shaw_is_the_relative_key_of_transformers_4(tmp_path):
    """Outputs and gradients; its table holds places from the furthest ahead to the furthest back, as ours does."""
    from safetensors.torch import load_file

    packages = ("transformers==4.57.1", "huggingface_hub<1", "tokenizers<0.23", "requests", "urllib3", "idna")
    packages += ("certifi", "charset_normalizer")
    environment = with_packages(tmp_path / "before", "--no-deps", *packages)
    given = {"words": words(10), "mask": MASK}
    torch.save(given, tmp_path / "words.pt")
    ours = bert()
    sizes = {
        name: getattr(ours.config, name)
        for name in (
            "vocab_size",
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
        )
    }
    sizes |= {"max_position_embeddings": 24, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    script = BERT_OF_BEFORE.format(sizes=sizes | {"pad_token_id": 0})
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = load_file(tmp_path / "told.safetensors")
    put_attention(ours, Shaw(std=0.0), positions="remove", trained=24)
    parameters = dict(ours.named_parameters())
    pairs = {}
    for name in [name.removeprefix("weight.") for name in told if name.startswith("weight.")]:
        if name.endswith("distance_embedding.weight"):
            mine = parameters[name.replace("distance_embedding.weight", "class_vectors.tables.0")]
            pairs[name] = (mine, lambda grad: grad[0])
            mine.data = told[f"weight.{name}"][None]
        elif name in parameters:
            mine = parameters[name]
            pairs[name] = (mine, lambda grad: grad)
            mine.data = told[f"weight.{name}"]
    said = ours(given["words"], attention_mask=MASK).last_hidden_state
    said[MASK.bool()].square().mean().backward()
    torch.testing.assert_close(said[MASK.bool()], told["said"][MASK.bool()], atol=1e-5, rtol=1e-5)
    compared = [name for name in pairs if f"grad.{name}" in told]
    assert sum("distance_embedding" in name for name in compared) == 2
    for name in compared:
        mine, view = pairs[name]
        torch.testing.assert_close(view(mine.grad), told[f"grad.{name}"], atol=1e-5, rtol=1e-5)


TRAINED = """
import json, sys, torch
from transformers import Trainer, TrainingArguments
from ordinate.hub import put_attention
from tests.hub.hosts import ENCODINGS, host, words
torch.manual_seed(0)
model = put_attention(host("llama", "ForCausalLM").float(), ENCODINGS["shaw"], positions="remove")
rows = [{{"input_ids": row, "labels": row}} for row in words(10, batch=8)] * 20
arguments = TrainingArguments(
    output_dir=sys.argv[1], max_steps=20, per_device_train_batch_size=8, learning_rate=0.02, logging_steps=1,
    report_to=[], use_cpu=True, gradient_checkpointing={checkpointing},
)
trainer = Trainer(model=model, args=arguments, train_dataset=rows)
trainer.train()
trainer.save_model(sys.argv[1] + "/end")
print(json.dumps([row["loss"] for row in trainer.state.log_history if "loss" in row]))
"""


@pytest.mark.parametrize("checkpointing", [False, True])
def test_trainer_takes_twenty_steps(checkpointing, tmp_path):
    environment = with_packages(tmp_path / "more", "--no-deps", "accelerate", "psutil")
    root = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] += os.pathsep + root
    done = subprocess.run(
        [sys.executable, "-c", TRAINED.format(checkpointing=checkpointing), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    losses = json.loads(done.stdout.strip().splitlines()[-1])
    assert len(losses) == 20
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    assert load(tmp_path / "end")(words(9)).logits.isfinite().all()
