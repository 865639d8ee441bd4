/** Pause after each response. */
const EVERY_MILLISECONDS = 2_000;

/**
 * Calls `ask` repeatedly, one call after the other. Pauses while the page is hidden. Returns a function that calls it
 * at once.
 */
export function startPolling(ask: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  let isRequested = false;
  const now = async (): Promise<void> => {
    isRequested = true;
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    while (isRequested) {
      isRequested = false;
      // An error while showing one response must not stop the polling.
      await ask().catch(reportError);
    }
    asking = false;
    if (!document.hidden) timer = setTimeout(() => void now(), EVERY_MILLISECONDS);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void now()));
  return () => void now();
}
