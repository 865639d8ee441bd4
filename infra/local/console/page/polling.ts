/** The pause after each response. */
const EVERY_MILLISECONDS = 2_000;

/**
 * Calls `poll` repeatedly, one call after the other. Pauses while the page is hidden. Returns a function that calls `poll`
 * at once.
 */
export function startPolling(poll: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPolling = false;
  let isRequested = false;
  const pollNow = async (): Promise<void> => {
    isRequested = true;
    if (isPolling) return;
    isPolling = true;
    clearTimeout(timer);
    while (isRequested) {
      isRequested = false;
      // An error while showing one response must not stop the polling.
      await poll().catch(reportError);
    }
    isPolling = false;
    if (!document.hidden) timer = setTimeout(() => void pollNow(), EVERY_MILLISECONDS);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void pollNow()));
  return () => void pollNow();
}
