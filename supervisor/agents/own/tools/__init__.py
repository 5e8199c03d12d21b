"""The tools of a model: commands and jobs, patches, a plan, files; on the loop thread."""
