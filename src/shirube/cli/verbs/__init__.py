"""What can be typed after `shirube`. Each verb imports what it needs when it runs."""
