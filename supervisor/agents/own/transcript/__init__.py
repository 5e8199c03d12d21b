"""The words of a model and to it in a conversation, as its next request repeats them."""
