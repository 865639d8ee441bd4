import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { times } from '../../support/times.ts';
import { newUser, userWith } from '../../support/userTokens.ts';

const PAIRS = 50;
const GENERATE = '/v2/auth/generate_token';
const acme = { type: 'organization', id: 'acme' };
const document = { type: 'document', id: 'nda', organizationId: 'acme' };
const folder = { type: 'folder', id: 'contracts', organizationId: 'acme' };
const scopeOf = { acme: {}, document: { documentId: 'nda' }, folder: { folderId: 'contracts' } };

const { customer } = acmeWorld();
forAllTests(startQueues);
beforeEach(async () => {
  restartFunctions();
  await customer.addOrganizations(['acme']);
  await customer.addFolders([{ folderId: 'contracts', accessType: 'restricted' }]);
  await customer.addDocuments(['nda'], { folderId: 'contracts' });
  await customer.addDocuments(['internal']);
  await customer.setAccess('restricted', ['nda']);
  await customer.setAccess('organizationPrivate', ['internal']);
});

const removeGrant = (userId: string, resource: object) =>
  customer.call('/v2/auth/permissions/remove', { userId, permissions: { resources: [resource] } });
const deleteFrom = (userId: string, scope: object) =>
  customer.call('/v2/users/delete', { organizationId: 'acme', userIds: [userId], ...scope });
const issue = (userId: string, resource: object) =>
  customer.call(GENERATE, {
    userId,
    userProperties: { name: 'A user', email: `${userId}@example.com` },
    permissions: { resources: [resource] },
  });
const issueOlder = (userId: string) =>
  customer.call('/v2/auth/token/get', { userId, userProperties: { organizationId: 'acme' } });

/** Returns whether the token opens a document that only the members, or only users with a grant may open. */
const opens = async (token: string, userId: string, documentId: string) =>
  (await userWith(userId, token).status('/v2/commentannotations/get', { ...nda, documentId })) === 'OK';

describe('a token that is issued while access is removed', () => {
  test.each([
    ['the grant in users/delete of the organization', issue, document, 'nda', (u: string) => deleteFrom(u, {})],
    [
      'the grant in users/delete of the document',
      issue,
      document,
      'nda',
      (u: string) => deleteFrom(u, scopeOf.document),
    ],
    ['the folder in users/delete of the folder', issue, folder, 'nda', (u: string) => deleteFrom(u, scopeOf.folder)],
    ['the grant in permissions/remove', issue, document, 'nda', (u: string) => removeGrant(u, document)],
    ['the membership in users/delete', issue, acme, 'internal', (u: string) => deleteFrom(u, {})],
    ['the membership in permissions/remove', issue, acme, 'internal', (u: string) => removeGrant(u, acme)],
    [
      'the membership of an older token in users/delete',
      issueOlder,
      acme,
      'internal',
      (u: string) => deleteFrom(u, {}),
    ],
  ])('does not survive the removal of %s', async (_what, give, resource, documentId, remove) => {
    const userIds = times(PAIRS, (index) => `user${index}`);
    await customer.addUsers(userIds, { organizationId: 'other' });
    const answers = await Promise.all(
      userIds.map(async (userId, index) => {
        // Half of the users have the access already.
        if (index % 2 === 0) await customer.grant(userId, resource);
        const calls = [() => give(userId, resource), () => remove(userId)];
        // Each call starts first in half of the pairs.
        const isFirst = index % 4 < 2;
        const [first, second] = await Promise.all((isFirst ? calls : calls.toReversed()).map((call) => call()));
        const [issued, removed] = isFirst ? [first!, second!] : [second!, first!];
        return { userId, issued, removed };
      }),
    );
    const survivors = [];
    for (const { userId, issued, removed } of answers) {
      const status = issued.body.error?.status ?? 'OK';
      expect(['OK', 'ABORTED']).toContain(status);
      expect(removed.status).toBe(200);
      const token = status === 'OK' ? issued.body.result.data.token : (await newUser(customer, userId)).token;
      if (await opens(token, userId, documentId)) survivors.push([userId, status]);
    }
    expect(survivors).toEqual([]);
  });

  test('works if the removal and a new grant were answered before', async () => {
    for (const userId of times(10, (index) => `user${index}`)) {
      await customer.grant(userId, document);
      if (Number(userId.slice(4)) % 2 === 0) await removeGrant(userId, document);
      else await deleteFrom(userId, {});
      await customer.grant(userId, document);
      const ada = await newUser(customer, userId, [document]);
      expect(await ada.status('/v2/commentannotations/get', nda)).toBe('OK');
      await removeGrant(userId, document);
      restartFunctions();
      expect(await ada.status('/v2/commentannotations/get', nda)).toBe('PERMISSION_DENIED');
      const again = await newUser(customer, userId, [document]);
      expect(await again.status('/v2/commentannotations/get', nda)).toBe('OK');
    }
  });

  test('works if the organization was disabled and enabled before, and ends if it is disabled after', async () => {
    const disable = (disabled: boolean) =>
      customer.ok('/v2/organizations/access/disablestate/update', { organizationIds: ['acme'], disabled });
    await disable(true);
    await disable(false);
    const ada = await newUser(customer, 'ada', [document]);
    expect(await ada.status('/v2/commentannotations/get', nda)).toBe('OK');
    await disable(true);
    await disable(false);
    restartFunctions();
    expect(await ada.status('/v2/commentannotations/get', nda)).toBe('PERMISSION_DENIED');
  });
});
