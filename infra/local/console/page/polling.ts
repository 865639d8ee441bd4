/** How long it waits after each answer. */
const EVERY_MILLISECONDS = 2_000;

/**
 * Calls `ask` again and again, each time when the one before is over, and not while nobody sees the page. Gives a function that asks at once.
 */
export function keepAsking(ask: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  let wanted = false;
  const now = async (): Promise<void> => {
    wanted = true;
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    while (wanted) {
      wanted = false;
      // A mistake in showing one answer must not be the end of all others.
      await ask().catch(reportError);
    }
    asking = false;
    if (!document.hidden) timer = setTimeout(now, EVERY_MILLISECONDS);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void now()));
  return () => void now();
}
