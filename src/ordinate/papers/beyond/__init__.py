"""Beyond the papers: how far a declared relation carries what was learned on short inputs."""
