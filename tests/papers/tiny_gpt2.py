"""A GPT-2 of 2 layers with random weights and a tokenizer of its own, as a folder that transformers can load."""

import torch

from ordinate.lab.tasks import make_task
from ordinate.papers.positional.fine_tuning import write_prompts

END = "<|endoftext|>"


def save_tiny_gpt2(folder, seed=0):
    """Write config, weights (safetensors) and tokenizer into a folder."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    task = make_task("mixed", queries=("sum", "min", "max"))
    batch = task.sample(200, generator=torch.Generator().manual_seed(seed))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(write_prompts(task, batch).answered(), trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, bos_token=END)
    wrapped.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = GPT2Config(
            vocab_size=len(wrapped),
            n_positions=128,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=wrapped.bos_token_id,
            eos_token_id=wrapped.eos_token_id,
        )
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
