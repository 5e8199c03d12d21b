"""The event loop and ways to wait on it: worker threads, several waits at once, ends that nothing cuts short."""
