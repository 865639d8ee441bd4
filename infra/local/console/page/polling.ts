/** Between a response and the next request. */
const EVERY_MILLISECONDS = 2_000;

/** Returns a function that calls `poll` now or after a running call, and then repeatedly while the page is visible. */
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
      // An error while the page shows one response must not end the polling.
      await poll().catch(reportError);
    }
    isPolling = false;
    if (!document.hidden) timer = setTimeout(() => void pollNow(), EVERY_MILLISECONDS);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void pollNow()));
  return () => void pollNow();
}
