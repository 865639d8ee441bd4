import { beforeAll, describe, expect, test } from '@jest/globals';
import { exampleRequests, type MeasuredExample, measureExamples, numbersOf, pinnedCosts } from '../bench/scenarios.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startRecorder } from '../support/capacity.ts';
import { startEngine } from '../support/engine.ts';
import { endpoints, examplePaths } from '../support/examples.ts';
import { withStillClock } from '../support/stillClock.ts';
import { expectDocumented } from './contract.ts';

/**
 * Fields in which the answer here differs from the example. The example describes another, larger workspace, in which
 * workers run.
 */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  // The answer lists these items in another order.
  '/v2/workspace/domains/get': ['data.allowedDomains.0', 'data.allowedDomains.1', 'data.allowedDomains.2'],
  '/v2/workspace/email/status': ['data.verified'],
  '/v2/workspace/authtoken/reset': ['data.newAuthToken.token'],
  '/v2/workspace/emailconfig/update': [
    'data.emailServiceConfig.type',
    'data.emailServiceConfig.fromEmail',
    'data.emailServiceConfig.triggers',
  ],
  '/v2/workspace/apikeyconfig/get': ['data.defaultDocumentAccessType'],
  '/v2/workspace/advancedwebhook/endpoints/get': [
    'data.endpoints.0.description',
    'data.endpoints.0.filterTypes',
    'data.endpoints.0.rateLimit',
    'data.endpoints.0.uid',
  ],
  '/v2/workspace/advancedwebhook/messages/get': ['data.messages.0'],
  '/v2/workspace/advancedwebhook/attempts/get': ['data.attempts.0'],
  '/v2/workspace/advancedwebhook/endpoints/recover': ['data.messages'],
  '/v2/organizations/documents/count/get': ['data.count'],
  '/v2/users/count/get': ['data.count'],
  // The earlier example of `users/update` sets another role.
  '/v2/auth/permissions/get': ['data.ada.organization.acme.accessRole'],
  '/v1/auth/token/get': ['data.token'],
  '/v2/auth/token/get': ['data.token'],
  '/v2/auth/generate_token': ['data.token'],
  '/v2/auth/generate_signature': ['data.signature'],
  '/v2/users/invite/pending/count': ['data.count'],
  '/v2/commentannotations/get': ['data.0.annotationNumber', 'data.0.annotationIndex', 'data.0.locationId'],
  '/v2/commentannotations/comments/get': ['data.0.reactionAnnotations.0.fromUsers.0.from.userId'],
  '/v2/commentannotations/count/get': ['data.nda.total', 'data.nda.unread'],
  '/v2/crdt/updates/get': ['data.update'],
  '/v2/crdt/versions/add': ['data.authors.1'],
  '/v2/crdt/versions/get': ['data.versions.0.authors.1', 'data.versions.0.bytes'],
  '/v2/crdt/versions/compare': ['data.operations.0'],
  '/v2/crdt/versions/restore': ['data.keptVersionId'],
  '/v2/live/connect': [
    'data.url',
    'data.host',
    'data.token',
    'data.channels.document',
    'data.channels.awareness',
    'data.channels.user',
  ],
  '/v2/live/changes': ['data.hints.0', 'data.version', 'data.complete'],
  '/v2/users/data/get': [
    'data.comments.0.annotationId',
    'data.comments.0.commentId',
    'data.comments.0.status',
    'data.comments.0.commentText',
    'data.comments.0.isEdited',
  ],
  '/v2/memory/judgments/query': ['results.0.agent', 'results.0.judgeType', 'total'],
  '/v2/memory/search': ['results.0', 'totalInScope'],
  '/v2/agents/groups/get': ['data.group.agentIds.1'],
  '/v2/commentannotations/views/add': ['data.clause-4.success', 'data.clause-4.message'],
  '/v2/organizations/documents/migrate/status': ['data.status'],
  '/v2/notifications/count/get': ['data.unread.forYou', 'data.unread.all'],
  '/v2/users/doc/get': ['data.0'],
  '/v2/users/data/delete/status': ['data.isDeleteCompleted', 'data.tasksLeft', 'data.lastTaskCompletedTime'],
};

const engine = forAllTests(startEngine);
const recorder = forAllTests(startRecorder);
let measured: ReadonlyMap<string, MeasuredExample>;
beforeAll(async () => {
  measured = await withStillClock(() => measureExamples(engine, recorder), undefined, 1);
});

/**
 * Returns the paths at which an answer differs from its example. Fields and items that only the answer has are
 * ignored. Two ids with the same prefix, two times and two durations count as equal.
 */
function differencesBetween(example: unknown, answer: unknown, path = ''): string[] {
  if (typeof example === 'object' && example !== null && typeof answer === 'object' && answer !== null) {
    return Object.entries(example).flatMap(([key, value]) =>
      differencesBetween(value, (answer as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
    );
  }
  if (example === answer) return [];
  const kinds = [example, answer].map((value) =>
    typeof value === 'string'
      ? /^([a-z]+_|\d{4}-\d\d-\d\dT)/.exec(value)?.[0].replace(/\d{4}-.*/, 'time')
      : typeof value === 'number' && (value > 1e11 || path.endsWith('Ms'))
        ? 'time'
        : undefined,
  );
  return kinds[0] !== undefined && kinds[0] === kinds[1] ? [] : [path];
}

describe('the example of an endpoint', () => {
  test.each(examplePaths)('%s gets the documented answer', (path) => {
    const { answer, documented } = measured.get(path)!;
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expectDocumented(endpoints.get(path)!, answer);
    expect(differencesBetween(documented, answer.body.result)).toEqual(elsewhere[path] ?? []);
  });

  test.each(exampleRequests.map(({ name, path }) => [name, path]))('has the cost of %s', (name, path) => {
    expect(numbersOf(measured.get(path)!.cost)).toEqual(pinnedCosts[name]);
  });
});
