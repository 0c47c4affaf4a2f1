import pytest

from tests.papers.tiny_gpt2 import save_tiny_gpt2


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A GPT-2 with random weights."""
    return save_tiny_gpt2(tmp_path_factory.mktemp("gpt2"))
