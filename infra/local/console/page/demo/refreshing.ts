/** Returns a function that reads. A call during a read reads again afterwards. */
export function refreshing(read: () => Promise<void>, report: (error: unknown) => void): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let mustRead = false;
  const readWhileChanged = async () => {
    while (mustRead) {
      mustRead = false;
      await read().catch(report);
    }
    reading = undefined;
  };
  return () => {
    mustRead = true;
    return (reading ??= readWhileChanged());
  };
}
