const waiting: (() => void)[] = [];

/**
 * Yields to the event loop, to a turn in which no other caller continues. Input and timers are processed between many
 * callers.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueNext);
  });
}

function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}
