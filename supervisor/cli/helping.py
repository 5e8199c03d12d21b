"""x."""
def run(chosen): print("help"); return 0
