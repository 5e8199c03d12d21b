"""How actors run: their type at pykka's points, their mailbox, the loop's thread, the clock."""
