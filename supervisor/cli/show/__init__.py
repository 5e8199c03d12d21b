"""Drawing: events as text, a screen with a foot line, keys. Imported only by verbs that draw."""
