const waiting: (() => void)[] = [];

/**
 * Waits for a turn of the event loop in which no other caller continues. If many callers have work at the same moment, input and
 * timers are processed between them.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueNext);
  });
}

function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}
