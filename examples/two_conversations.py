"""Two conversations at once. One is interrupted; the other does not notice."""

import greenroom


def main() -> None:
    with greenroom.Client(start=True) as client:
        numbers = client.create().conversation
        letters = client.create().conversation
        client.send(numbers, "count 5000")
        client.send(letters, "say a b c")

        stopped = client.interrupt(numbers, reason="nobody needs so many numbers")
        finished = client.wait(letters)

        print(f"numbers: {stopped.ending}")
        print(f"letters: {finished.ending}, {finished.message}" if finished else "letters: nothing was said")


if __name__ == "__main__":
    main()
