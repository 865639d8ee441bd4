import { describe, expect, test } from '@jest/globals';
import { decisionOf } from '../../../lib/comments/rules/decisions.ts';

describe('decisionOf', () => {
  const thread = (status: unknown, suggestion?: string) => ({
    status: JSON.stringify(status),
    suggestion: suggestion && JSON.stringify({ status: suggestion }),
  });
  const open = { id: 'OPEN', type: 'default' };
  const resolved = { id: 'RESOLVED', type: 'terminal' };
  test.each([
    ['a suggestion is accepted', thread(open, 'pending'), thread(open, 'accepted'), 'accepted'],
    ['a suggestion is rejected and resolved', thread(open, 'pending'), thread(resolved, 'rejected'), 'rejected'],
    ['a suggestion stays accepted', thread(open, 'accepted'), thread(open, 'accepted'), undefined],
    ['the thread is resolved', thread(open), thread(resolved), 'resolved'],
    ['the thread is resolved by a custom status', thread(open), thread({ id: 'done', type: 'terminal' }), 'resolved'],
    ['the thread is approved', thread(open), thread({ id: 'approved', type: 'ongoing' }), 'approved'],
    ['a resolved thread is rejected', thread(resolved), thread({ id: 'REJECTED', type: 'terminal' }), 'rejected'],
    ['the thread is opened again', thread(resolved), thread(open), undefined],
    [
      'the thread moves from one terminal status to another',
      thread(resolved),
      thread({ id: 'done', type: 'terminal' }),
      undefined,
    ],
    ['the thread is in progress', thread(open), thread({ id: 'IN_PROGRESS', type: 'ongoing' }), undefined],
  ])('returns a decision or undefined when %s', (_what, before, after, decision) => {
    expect(decisionOf(before, after)).toBe(decision);
  });
});
