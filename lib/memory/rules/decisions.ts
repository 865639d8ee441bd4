import { readJson } from '../../comments/rules/comments.ts';
import { isTerminal, type Status } from '../../comments/rules/statuses.ts';
import type { Thread } from '../../comments/rules/threads.ts';

/** Statuses that say what was decided, by their ids. */
const decided: Readonly<Record<string, string>> = { ACCEPTED: 'accepted', APPROVED: 'approved', REJECTED: 'rejected' };

/**
 * What a change of a thread decides: a suggestion is `accepted` or `rejected`; the status becomes one that says so itself, or else one in which a thread
 * is done (`resolved`). Undefined when it decides nothing.
 */
export function decisionOf(
  before: Pick<Thread, 'status' | 'suggestion'>,
  after: Pick<Thread, 'status' | 'suggestion'>,
): string | undefined {
  const [was, is] = [before, after].map(({ suggestion }) => readJson<{ status?: string }>(suggestion)?.status);
  if (is !== was && (is === 'accepted' || is === 'rejected')) return is;
  const [from, to] = [before, after].map(({ status }) => JSON.parse(status) as Status) as [Status, Status];
  if (from.id === to.id && isTerminal(from) === isTerminal(to)) return undefined;
  const name = to.id.toUpperCase();
  return (
    (Object.hasOwn(decided, name) ? decided[name] : undefined) ??
    (isTerminal(to) && !isTerminal(from) ? 'resolved' : undefined)
  );
}
