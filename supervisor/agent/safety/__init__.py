"""Whether a command or patch runs, asks or is refused. Decides from arguments alone; runs nothing, touches no file."""
