const waiting: (() => void)[] = [];

/**
 * Continues in a turn of the event loop in which no other caller continues, so input and timers run between many
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
