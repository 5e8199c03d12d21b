"""The runtime of actors: their type at pykka's points, their mailbox, the loop's thread, the clock."""
