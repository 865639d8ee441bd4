/** Waits until the clock shows a later millisecond than before. Returns the new time. */
export function nextMillisecond(): number {
  const before = Date.now();
  while (Date.now() === before);
  return Date.now();
}
