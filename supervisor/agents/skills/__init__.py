"""Skills: instructions in files named SKILL.md, offered to models by name and read by them when they are needed."""
