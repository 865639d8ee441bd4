import { expect, test } from '@jest/globals';
import { completeActors, incompleteActors } from '../../../lib/content/rules/actors.ts';
import type { EventPayload } from '../../../lib/events/rules/payload.ts';

test.each([
  ['actor', (user: object) => ({ actionUser: user })],
  ['author of a record', (user: object) => ({ from: user })],
  ['author of a thread', (user: object) => ({ commentAnnotation: { from: user } })],
  ['assignee', (user: object) => ({ commentAnnotation: { assignedTo: user } })],
  ['author of a comment of a thread', (user: object) => ({ commentAnnotation: { comments: [{ from: user }] } })],
  ['author of a comment', (user: object) => ({ targetComment: { from: user } })],
])('the %s of an event gets the name and the email that are missing', (_what, dataOf) => {
  const sent = { data: dataOf({ userId: 'ada', email: 'sent@example.com' }) } as unknown as EventPayload;
  expect(incompleteActors(sent)).toEqual(['ada']);
  const profile = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
  expect(completeActors(sent, new Map([['ada', profile]])).data).toEqual(
    dataOf({ userId: 'ada', email: 'sent@example.com', name: 'Ada' }),
  );
});
