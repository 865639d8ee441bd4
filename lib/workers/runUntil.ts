export interface InvocationResult {
  readonly answer: unknown;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: number;
}

/**
 * Throws at `deadline` (epoch ms), before Lambda ends the function without a log line. `work` can continue after that,
 * so its writes must be conditional.
 */
export async function runUntil<T>(work: Promise<T>, deadline: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The function ran out of time')), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
