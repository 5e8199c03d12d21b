"""Whether a command or a patch runs, asks or is refused. Pure decisions: runs nothing, opens no file."""
