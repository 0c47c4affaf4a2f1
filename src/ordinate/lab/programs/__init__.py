"""Programs: parallel algorithms, run on a machine of processors or compiled into positional Transformers."""
