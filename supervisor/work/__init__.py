"""The means to carry work out, whoever asked for it: processes, the sandbox, the reach, patches, files, jobs."""
