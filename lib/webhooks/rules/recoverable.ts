import { invalid } from '../../shared/errors.ts';

const DAY = 24 * 60 * 60 * 1000;
/** How far back messages are recovered. */
const DAYS = 14;

/** INVALID_ARGUMENT for a time, epoch ms, from which messages are not recovered any more: it lies more than 14 days back. */
export function recoverableSince(since: number, now: number): void {
  if (since >= now - DAYS * DAY) return;
  throw invalid({ path: ['since'], code: 'too_early', message: `since must be at most ${DAYS} days ago` });
}
