"""Bytes of other programs, bounded: lines, JSON values, kinds of pictures, the head and tail of a text."""
