import { afterEach, beforeEach, jest } from '@jest/globals';

/** Returns the lines that functions log in the running test. They are not printed. Call it before `acmeWorld`. */
export function capturedLog(): readonly string[] {
  return captured({ POWERTOOLS_LOG_LEVEL: 'DEBUG' }, (...values) => values.map(String).join(' '));
}

/**
 * Returns the objects that functions log in the running test: messages from the level INFO on, and metrics. They are
 * not printed. A test can empty the list.
 */
export function capturedLogObjects(): Record<string, any>[] {
  return captured({ POWERTOOLS_LOG_LEVEL: 'INFO', POWERTOOLS_METRICS_DISABLED: 'false' }, (text) =>
    JSON.parse(String(text)),
  );
}

function captured<T>(variables: Readonly<Record<string, string>>, read: (...values: unknown[]) => T): T[] {
  const lines: T[] = [];
  beforeEach(() => {
    lines.length = 0;
    // With POWERTOOLS_DEV, functions write their log to the console.
    Object.assign(process.env, { POWERTOOLS_DEV: 'true', ...variables });
    for (const method of ['debug', 'info', 'warn', 'error', 'log'] as const)
      jest.spyOn(console, method).mockImplementation((...values: unknown[]) => void lines.push(read(...values)));
  });
  afterEach(() => void jest.restoreAllMocks());
  return lines;
}
