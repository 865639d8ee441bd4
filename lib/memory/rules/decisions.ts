import { readJson } from '../../shared/jsonFields.ts';
import { isTerminal, type Status } from '../../comments/rules/statuses.ts';
import type { Thread } from '../../comments/rules/threads.ts';

/** Decisions by the id of a status. */
const decisionsByStatus = new Map([
  ['ACCEPTED', 'accepted'],
  ['APPROVED', 'approved'],
  ['REJECTED', 'rejected'],
]);

/**
 * Returns the decision that a change of a thread makes: `accepted` or `rejected` for a suggestion, else by the new status, else `resolved` when
 * the status becomes terminal. Undefined when the change decides nothing.
 */
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
  if (from.id === to.id && isTerminal(from) === isTerminal(to)) return undefined;
  return decisionsByStatus.get(to.id.toUpperCase()) ?? (becomesTerminal ? 'resolved' : undefined);
}
