import { afterEach, beforeEach, jest } from '@jest/globals';

/** Returns the lines that functions log in the running test. They are not printed. Call it before `acmeWorld`. */
export function capturedLog(): readonly string[] {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    // With POWERTOOLS_DEV, functions write their log to the console.
    Object.assign(process.env, { POWERTOOLS_DEV: 'true', POWERTOOLS_LOG_LEVEL: 'DEBUG' });
    for (const method of ['debug', 'info', 'warn', 'error', 'log'] as const)
      jest.spyOn(console, method).mockImplementation((...values: unknown[]) => {
        lines.push(values.map(String).join(' '));
      });
  });
  afterEach(() => void jest.restoreAllMocks());
  return lines;
}
