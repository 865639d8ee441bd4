/** What came of one invocation: the answer to Lambda, what the log says of it, and how much counts as a fault. */
export interface Performed {
  readonly answer: unknown;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: number;
}

/**
 * The outcome of some work, or an error at `deadline` (epoch milliseconds): Lambda itself would only end the function, and nobody would
 * learn what it was at. What is given up may go on while the process lives, so its writes must be conditional.
 */
export async function withinTime<T>(work: Promise<T>, deadline: number): Promise<T> {
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
