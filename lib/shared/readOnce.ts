/** Reads each key once. If a read fails, only calls with that key throw. */
export function readOnce<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const reads = new Map<string, Promise<T>>();
  return (key) => {
    const running = reads.get(key) ?? read(key);
    reads.set(key, running);
    return running;
  };
}
