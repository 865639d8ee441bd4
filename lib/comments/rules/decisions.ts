import { readJson } from '../../shared/jsonFields.ts';
import { isSameStatus, isTerminal, type Status } from './statuses.ts';
import type { Thread } from './threads.ts';

const decisionsByStatus = new Map([
  ['ACCEPTED', 'accepted'],
  ['APPROVED', 'approved'],
  ['REJECTED', 'rejected'],
]);

/** The decision about a suggestion takes precedence over the status. */
export function decisionOf(
  before: Pick<Thread, 'status' | 'suggestion'>,
  after: Pick<Thread, 'status' | 'suggestion'>,
): string | undefined {
  const suggestionOf = ({ suggestion }: typeof before) => readJson<{ status?: string }>(suggestion)?.status;
  const suggestion = suggestionOf(after);
  if (suggestion !== suggestionOf(before) && (suggestion === 'accepted' || suggestion === 'rejected'))
    return suggestion;
  const [from, to] = [JSON.parse(before.status) as Status, JSON.parse(after.status) as Status];
  const becomesTerminal = isTerminal(to) && !isTerminal(from);
  if (isSameStatus(from, to)) return undefined;
  return decisionsByStatus.get(to.id.toUpperCase()) ?? (becomesTerminal ? 'resolved' : undefined);
}
