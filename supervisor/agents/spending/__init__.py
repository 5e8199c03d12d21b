"""The spending of turns: what they may use, what they have used, what it costs; and going round in circles."""
