"""Parts that verbs share: the daemon's client, tables, words, problems, questions and their answers."""
