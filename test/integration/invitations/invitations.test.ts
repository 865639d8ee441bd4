import { beforeEach, describe, expect, test } from '@jest/globals';
import { UserEntity } from '../../../lib/directory/users.ts';
import type { Answer } from '../../../lib/invitations/rules.ts';
import type { MailResult } from '../../../lib/mail/rules/mailRecord.ts';
import { EmailConfigEntity } from '../../../lib/workspaces/configs/emailConfig.ts';
import { acmeWorld, forAllTests, forEachTest, invalid, table } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { newCustomer } from '../../support/customer.ts';
import { itemsByKey } from '../../support/items.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { MailSystem } from '../../support/mailSystem.ts';
import { startQueues } from '../../support/queues.ts';
import type { Headers } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const ADD = '/v2/users/invite/add';
const RESPOND = '/v2/users/invite/respond';
const LIST = '/v2/users/invite/get';
const RECEIVED = '/v2/users/invitations/get';
const COUNT = '/v2/users/invite/pending/count';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda'] });
const queues = forAllTests(startQueues);
const system = forEachTest(() => new MailSystem(engine, customer));

const acme = { organizationId: 'acme' };
const toOrganization = { ...acme, email: 'grace@example.com', type: 'org_user' };
const toDocument = { ...toOrganization, type: 'doc_user', documentId: 'nda' };
const toFolder = { ...toOrganization, type: 'folder_user', folderId: 'drafts' };
const targets = { org_user: toOrganization, doc_user: toDocument, folder_user: toFolder };
const grace = { userId: 'grace', name: 'Grace Hopper', email: 'Grace@Example.com' };
const inviter = { email: 'ada@example.com', userId: 'ada', clientUserId: 'ada' };

const deletions: Readonly<Record<string, [path: string, data: object]>> = {
  document: ['/v2/organizations/documents/delete', { ...acme, documentIds: ['nda'] }],
  folder: ['/v2/organizations/folders/delete', { ...acme, folderId: 'drafts' }],
  organization: ['/v2/organizations/delete', { organizationIds: ['acme'] }],
};

const invite = (invitation: object) => customer.untyped(ADD, invitation);
const tokenOf = async (userId: string) => (await newUser(customer, userId)).token;
const answer = (target: object, status: string, answered: object = {}, headers: Headers = {}) =>
  customer.call(RESPOND, { ...target, status, ...answered }, headers);
const outcomeOf = async (target: object, status: string, answered?: object) => {
  const { body } = await answer(target, status, answered);
  return body.error ? `${body.error.status} ${body.error.details?.status ?? body.error.message}` : 'OK';
};
const accept = async (target: object, user: object = grace) =>
  answer(target, 'ACCEPTED', { user, authToken: await tokenOf((user as { userId: string }).userId) });
const statuses = async () => ((await customer.ok(LIST, acme)) as { status: string }[]).map(({ status }) => status);
/** Runs `work` with a clock that stands still, this far from now. */
const at = <T>(milliseconds: number, work: () => Promise<T>) => withStillClock(work, Date.now() + milliseconds);
/** Processes the stored mails that are READY. */
const sendMails = async () => {
  for (const { mailId, status } of await system.stored())
    if (status === 'READY') await system.processMessage({ tenant: customer.apiKey, mailId });
};

beforeEach(async () => {
  await customer.addFolders(['drafts']);
  queues.clear();
});

describe('an invitation', () => {
  test.each<[string, object, field: string | undefined]>([
    ['an organization that does not exist', { organizationId: 'lost' }, 'organizationId'],
    ['a document that does not exist', { documentId: 'lost' }, undefined],
    ['a folder that does not exist', { ...toFolder, documentId: null, folderId: 'lost' }, undefined],
    ['no document', { documentId: null }, 'documentId'],
    ['a document and a folder', { folderId: 'drafts' }, 'folderId'],
    ['a document of an organization', { type: 'org_user' }, 'documentId'],
    ['a folder without its id', { type: 'folder_user', documentId: null }, 'folderId'],
    ['an address that cannot receive mail', { email: 'grace' }, 'email'],
    ['a link to a domain that is not allowed', { acceptUrl: 'https://evil.example/' }, 'acceptUrl'],
    ['a link without a host', { acceptUrl: 'javascript:alert(1)' }, 'acceptUrl'],
    ['a link with credentials', { acceptUrl: 'https://a@acme.example/' }, 'acceptUrl'],
  ])('to %s is refused', async (_what, changed, field) => {
    await customer.ok('/v2/workspace/domains/add', { domains: ['acme.example'] });
    expect(await customer.error(ADD, { ...toDocument, ...changed })).toEqual(
      field ? invalid(expect.stringContaining(field)) : [404, 'NOT_FOUND', expect.any(String)],
    );
    expect(await statuses()).toEqual([]);
  });

  test.each([
    ['document', '/v2/organizations/documents/access/disablestate/update', { ...acme, documentIds: ['nda'] }],
    ['organization', '/v2/organizations/access/disablestate/update', { organizationIds: ['acme'] }],
  ])('to a disabled %s cannot be accepted', async (what, path, disabled) => {
    await invite(toDocument);
    const accepted = { user: grace, authToken: await tokenOf('grace') };
    await customer.untyped(path, { ...disabled, disabled: true });
    expect(await outcomeOf(toDocument, 'ACCEPTED', accepted)).toBe(`FAILED_PRECONDITION The ${what} is disabled`);
  });

  test('is listed with all that was sent', async () => {
    await customer.ok('/v2/workspace/domains/add', { domains: ['acme.example'] });
    const names = { organizationName: 'Acme', documentName: 'NDA', folderName: 'Drafts' };
    const sent = {
      ...toDocument,
      ...names,
      invitedBy: inviter,
      accessRole: 'editor',
      acceptUrl: 'https://acme.example/x',
    };
    await withStillClock(async () => {
      const now = Date.now();
      await invite(sent);
      const row = { ...sent, status: 'PENDING', createdAt: now, invitedAt: now, expiresAt: now + 30 * DAY };
      const ofGrace = { ...acme, email: 'GRACE@example.COM' };
      expect([await customer.ok(LIST, ofGrace), await customer.ok(RECEIVED, ofGrace)]).toEqual([[row], [row]]);
    });
  });

  test('of the same address to the same resource renews the pending one', async () => {
    await at(-58 * DAY, () => invite({ ...toDocument, documentName: 'Draft', accessRole: 'editor' }));
    await at(-29 * DAY, () => invite({ ...toDocument, email: 'Grace@example.com', documentName: 'NDA' }));
    const [row, ...others] = await customer.ok(LIST, acme);
    expect(row).toMatchObject({ status: 'PENDING', documentName: 'NDA', accessRole: 'viewer' });
    expect([row.invitedAt - row.createdAt >= 29 * DAY - MINUTE, others]).toEqual([true, []]);
    expect(await customer.ok(COUNT, { ...acme, type: 'doc_user' })).toEqual({ count: 1 });
  });

  test('expires after 30 days, cannot be answered then, and begins again', async () => {
    await at(-30 * DAY - MINUTE, () => invite(toDocument));
    expect(await statuses()).toEqual(['EXPIRED']);
    expect(await customer.ok(COUNT, { ...acme, type: 'doc_user' })).toEqual({ count: 0 });
    for (const status of ['REJECTED', 'WITHDRAWN'])
      expect(await outcomeOf(toDocument, status)).toBe('FAILED_PRECONDITION EXPIRED');
    expect(await outcomeOf(toDocument, 'ACCEPTED', { user: grace, authToken: await tokenOf('grace') })).toBe(
      'FAILED_PRECONDITION EXPIRED',
    );
    const before = Date.now();
    await invite(toDocument);
    const [row] = await customer.ok(LIST, acme);
    expect([row.status, row.createdAt >= before]).toEqual(['PENDING', true]);
  });

  test.each<[string, number, number | undefined, string[]]>([
    ['shown 90 days after the expiry', -120 * DAY + MINUTE, undefined, ['EXPIRED']],
    ['gone more than 90 days after the expiry', -120 * DAY - MINUTE, undefined, []],
    ['shown 90 days after the answer', -91 * DAY, -90 * DAY + MINUTE, ['REJECTED']],
    ['gone more than 90 days after the answer', -91 * DAY, -90 * DAY - MINUTE, []],
  ])('is %s', async (_what, invitedAt, answeredAt, shown) => {
    await at(invitedAt, () => invite(toDocument));
    if (answeredAt !== undefined) await at(answeredAt, () => answer(toDocument, 'REJECTED'));
    expect(await statuses()).toEqual(shown);
  });
});

describe('the answer to an invitation', () => {
  let newAuthToken: Headers;
  beforeEach(() => {
    newAuthToken = {};
  });

  test.each<[string, object, string]>([
    ['PENDING', { status: 'PENDING' }, 'status'],
    ['without a user', { user: null }, 'user'],
    ['without a token', { authToken: null }, 'authToken'],
    ['with another address', { user: { ...grace, email: 'eve@example.com' } }, 'user.email'],
    ['with a token of the inviter', { status: 'WITHDRAWN' }, 'user'],
    ['REJECTED with a user and no token', { status: 'REJECTED', authToken: null }, 'authToken'],
  ])('is refused as %s', async (_what, changed, field) => {
    await invite(toDocument);
    const accepted = { ...toDocument, status: 'ACCEPTED', user: grace, authToken: await tokenOf('grace') };
    expect(await customer.error(RESPOND, { ...accepted, ...changed })).toEqual(invalid(expect.stringContaining(field)));
    expect(await statuses()).toEqual(['PENDING']);
  });

  test.each<[string, (token: string) => Promise<string>]>([
    ['of no token', async (token) => token.slice(1)],
    ['of another user', async () => tokenOf('eve')],
    ['of another customer', async () => (await newUser(await newCustomer(), 'grace')).token],
    [
      'of an erased user',
      async (token) => {
        await customer.ok('/v2/users/data/delete', { userIds: ['grace'] });
        await tokenOf('grace');
        return token;
      },
    ],
    [
      'of a user whose tokens are revoked',
      async (token) => {
        const reset = { apiKey: customer.apiKey, revokeUserTokens: true };
        const { body } = await customer.call('/v2/workspace/authtoken/reset', reset, customer.workspaceHeaders);
        newAuthToken = { 'x-svc-auth-token': body.result.data.newAuthToken.token };
        return token;
      },
    ],
  ])('is refused with the text %s', async (_what, change) => {
    await invite(toDocument);
    const authToken = await change(await tokenOf('grace'));
    for (const status of ['ACCEPTED', 'REJECTED']) {
      const { body } = await answer(toDocument, status, { user: grace, authToken }, newAuthToken);
      expect([body.error?.status, body.error?.message]).toEqual([
        'INVALID_ARGUMENT',
        'authToken must be a valid user token of user.userId, from /v2/auth/generate_token',
      ]);
    }
  });

  test('is refused with an expired token', async () => {
    const authToken = await tokenOf('grace');
    await at(49 * 60 * MINUTE, async () => {
      await invite(toDocument);
      expect(await outcomeOf(toDocument, 'ACCEPTED', { user: grace, authToken })).toContain('authToken');
    });
  });

  test('is NOT_FOUND without an invitation, also in a new document with the id of the invited one', async () => {
    expect(await outcomeOf(toDocument, 'REJECTED')).toContain('NOT_FOUND');
    await invite(toDocument);
    await customer.ok('/v2/organizations/documents/delete', { ...acme, documentIds: ['nda'] });
    await customer.addDocuments(['nda']);
    expect(await outcomeOf(toDocument, 'REJECTED')).toContain('NOT_FOUND');
  });

  const answers: Answer[] = ['ACCEPTED', 'REJECTED', 'WITHDRAWN'];
  test.each(answers)('%s is final, and a new invitation begins again', async (first) => {
    await invite(toDocument);
    const accepted = { user: grace, authToken: await tokenOf('grace') };
    const send = (status: string) => outcomeOf(toDocument, status, status === 'ACCEPTED' ? accepted : {});
    expect(await send(first)).toBe('OK');
    const [row] = await customer.ok(LIST, acme);
    for (const status of answers)
      expect(await send(status)).toBe(status === first ? 'OK' : `FAILED_PRECONDITION ${first}`);
    expect(await customer.ok(LIST, acme)).toEqual([row]);
    expect(row).toMatchObject({ status: first, answeredAt: expect.any(Number) });
    expect(row.acceptedBy).toBe(first === 'ACCEPTED' ? 'grace' : undefined);

    await invite(toDocument);
    const [renewed] = await customer.ok(LIST, acme);
    expect([renewed.status, renewed.answeredAt, renewed.acceptedBy]).toEqual(['PENDING', undefined, undefined]);
    expect(await send('REJECTED')).toBe('OK');
  });

  test('ACCEPTED of another user with the same address is refused', async () => {
    await invite(toDocument);
    expect((await accept(toDocument)).status).toBe(200);
    const other = { ...grace, userId: 'other' };
    expect(await outcomeOf(toDocument, 'ACCEPTED', { user: other, authToken: await tokenOf('other') })).toBe(
      'FAILED_PRECONDITION ACCEPTED',
    );
  });

  test('loses against an answer that came first, and gives no access', async () => {
    await invite(toDocument);
    const authToken = await tokenOf('grace');
    beforeWrite(async () => expect(await outcomeOf(toDocument, 'WITHDRAWN')).toBe('OK'));
    expect(await outcomeOf(toDocument, 'ACCEPTED', { user: grace, authToken })).toBe('FAILED_PRECONDITION WITHDRAWN');
    expect(await itemsOf('Grant')).toEqual([]);
  });
});

describe('an accepted invitation', () => {
  const rolesOf = async () => {
    const read = { ...acme, userIds: ['grace'], documentIds: ['nda'], folderIds: ['drafts'] };
    const { organization, documents, folders } = (await customer.ok('/v2/auth/permissions/get', read)).grace;
    const roleOf = (entry: any) => entry.accessRole;
    return [roleOf(organization.acme), roleOf(documents.nda), roleOf(folders.drafts)];
  };
  const restrict = async () => {
    await customer.setAccess('restricted', ['nda']);
    const folders = { ...acme, folderIds: ['drafts'], accessType: 'restricted' };
    await customer.untyped('/v2/organizations/folders/access/update', folders);
  };

  test.each<[keyof typeof targets, string | undefined, (string | undefined)[]]>([
    ['org_user', undefined, ['viewer', undefined, undefined]],
    ['doc_user', 'editor', [undefined, 'editor', undefined]],
    ['folder_user', 'editor', [undefined, undefined, 'editor']],
  ])('of type %s with the role %s gives access there alone, and the profile', async (type, accessRole, roles) => {
    await restrict();
    const target = targets[type];
    await invite({ ...target, accessRole });
    expect((await accept(target)).status).toBe(200);
    expect(await rolesOf()).toEqual(roles);
    const { email, type: _type, ...scope } = target;
    expect(await customer.ok('/v2/users/get', scope)).toEqual([{ ...grace, initial: 'G' }]);
    expect(await customer.ok('/v2/users/get', { ...scope, searchKey: email })).toHaveLength(1);
    if (type !== 'org_user') expect(await customer.ok('/v2/users/get', acme)).toEqual([]);
  });

  test.each([
    ['viewer', 'viewer', 'viewer'],
    ['viewer', 'editor', 'editor'],
    ['editor', 'viewer', 'editor'],
  ])('makes a %s with an invitation as %s a %s', async (before, invited, after) => {
    await restrict();
    await customer.grant('grace', { type: 'document', id: 'nda', organizationId: 'acme', accessRole: before });
    await invite({ ...toDocument, accessRole: invited });
    await accept(toDocument);
    expect((await rolesOf())[1]).toBe(after);
  });

  test('gives access again to a user who was removed after the invitation', async () => {
    await restrict();
    await customer.addUsers([grace], { documentId: 'nda' });
    await invite(toDocument);
    await customer.ok('/v2/users/delete', { ...acme, documentId: 'nda', userIds: ['grace'] });
    await accept(toDocument);
    expect((await rolesOf())[1]).toBe('viewer');
  });
});

describe('the listings of invitations', () => {
  test('select expired invitations, and count pending ones of a type', async () => {
    await at(-31 * DAY, () => invite(toDocument));
    await invite(toFolder);
    const ofGrace = { ...acme, email: toDocument.email };
    const typesOf = async (path: string, query: object) =>
      ((await customer.untyped(path, query)) as { type: string }[]).map(({ type }) => type);
    expect(await typesOf(RECEIVED, { ...ofGrace, status: 'EXPIRED' })).toEqual(['doc_user']);
    expect(await typesOf(RECEIVED, { ...ofGrace, status: 'PENDING' })).toEqual(['folder_user']);
    expect(await typesOf(LIST, { ...acme, isPendingUsersOnly: true })).toEqual(['folder_user']);
    const counts = Object.keys(targets).map((type) => customer.untyped(COUNT, { ...acme, type }));
    expect(await Promise.all(counts)).toEqual([{ count: 0 }, { count: 0 }, { count: 1 }]);
  });

  test('have 100 rows by default', async () => {
    for (const n of times(101, (index) => index)) await invite({ ...toOrganization, email: `user-${n}@example.com` });
    expect(await customer.ok(LIST, acme)).toHaveLength(100);
  });
});

describe('the mail of an invitation', () => {
  const provide = (result: MailResult) => system.results.push(result);
  const configure = (useEmailService: boolean) => customer.ok('/v2/workspace/emailconfig/update', { useEmailService });

  test('is sent once, with names and link', async () => {
    await configure(true);
    await customer.ok('/v2/workspace/domains/add', { domains: ['acme.example'] });
    await customer.addUsers([{ userId: 'ada', name: 'Ada <b>Lovelace</b>' }]);
    const acceptUrl = 'https://acme.example/join?a=1&b=2';
    await invite({ ...toDocument, organizationName: 'Acme', documentName: 'NDA', invitedBy: inviter, acceptUrl });
    expect(queues.messagesOf('mail')).toMatchObject([{ body: { tenant: customer.apiKey }, delaySeconds: 0 }]);
    await sendMails();
    await sendMails();
    const [{ to, subject, text, html }, ...others] = system.mails as [any];
    expect([to, subject, others]).toEqual([
      'grace@example.com',
      'Ada <b>Lovelace</b> invited you to the document NDA',
      [],
    ]);
    expect(text).toContain(`Open the invitation: ${acceptUrl}`);
    expect(html).toContain('Ada &#60;b&#62;Lovelace&#60;/b&#62; invited you to the document NDA');
    expect(html).toContain('href="https://acme.example/join?a=1&#38;b=2"');
    expect(JSON.stringify(await itemsOf('Mail'))).not.toContain('example');
  });

  const gone = 'the organization, document or folder does not exist any more';
  const isOver = 'the invitation is not pending any more';
  test.each<[string, object, () => Promise<unknown>, string]>([
    ['the invitation was withdrawn', toDocument, () => answer(toDocument, 'WITHDRAWN'), isOver],
    ['e-mail was turned off', toDocument, () => configure(false), 'e-mail is off'],
    [
      'the provider refuses the key',
      toDocument,
      async () => {
        const { _r: revision } = (await table.get(EmailConfigEntity, { tenant: customer.apiKey }))!;
        await system.store.pause(customer.apiKey, revision, system.now);
      },
      'e-mail is paused: the provider refuses the key or the sender',
    ],
    [
      'the operator has not set mailFrom',
      toDocument,
      async () => void (system.ses = undefined),
      'the operator has not set mailFrom',
    ],
    [
      'its document was deleted and purged',
      toDocument,
      async () => table.removeKeys((await itemsOf('Invitation')).map(({ PK, SK }) => ({ PK, SK }))),
      isOver,
    ],
    ['its document was deleted', toDocument, () => customer.untyped(...deletions.document!), gone],
    ['its folder was deleted', toFolder, () => customer.untyped(...deletions.folder!), gone],
    ['its organization was deleted', toOrganization, () => customer.untyped(...deletions.organization!), gone],
  ])('is not sent if %s', async (_what, target, change, reason) => {
    await configure(true);
    await invite(target);
    await change();
    await sendMails();
    expect([system.mailed, system.skipped]).toEqual([[], [reason]]);
  });

  test.each<[string, string, () => Promise<unknown>, string[]]>([
    ['was skipped', 'is followed', () => answer(toDocument, 'WITHDRAWN'), ['SKIPPED', 'SENT']],
    [
      'was refused',
      'is followed',
      async () => provide({ outcome: 'failed', reason: 'x', retry: false }),
      ['FAILED', 'SENT'],
    ],
    ['may have arrived', 'is not followed', async () => provide({ outcome: 'unknown', reason: 'x' }), ['UNKNOWN']],
    ['waits', 'is not followed', async () => provide({ outcome: 'throttled', reason: 'x' }), ['READY']],
  ])('that %s %s by another within 10 minutes', async (_what, _follows, prepare, states) => {
    await configure(true);
    await invite(toDocument);
    await prepare();
    for (const _call of times(2, () => 0)) {
      await sendMails();
      await invite(toDocument);
    }
    system.results.length = 0;
    expect(await statuses()).toEqual(['PENDING']);
    expect((await system.stored()).map(({ status }) => status).toSorted()).toEqual(states.toSorted());
  });

  test('is not stored while e-mail is off or paused', async () => {
    await invite(toDocument);
    await configure(true);
    system.results.push({ outcome: 'denied', reason: 'the key is wrong' });
    await invite(toFolder);
    await sendMails();
    await invite(toOrganization);
    expect((await itemsOf('Mail')).map(({ about }) => about.kind).toSorted()).toEqual([
      'invitation',
      'providerFailure',
    ]);
  });

  test('has no link to a domain that is not allowed any more', async () => {
    await configure(true);
    await customer.ok('/v2/workspace/domains/add', { domains: ['acme.example'] });
    await invite({ ...toDocument, acceptUrl: 'https://acme.example/join' });
    await customer.ok('/v2/workspace/domains/delete', { domains: ['acme.example'] });
    await sendMails();
    expect([system.mailed, JSON.stringify(system.mails).includes('acme.example')]).toEqual([
      ['grace@example.com'],
      false,
    ]);
  });

  test('is sent again with a renewal, at most once in 10 minutes, also after an answer', async () => {
    await configure(true);
    const countAt = (minutes: number) =>
      at(minutes * MINUTE, async () => {
        await invite(toDocument);
        return (await itemsOf('Mail')).length;
      });
    await invite(toDocument);
    expect([await countAt(1), await countAt(9)]).toEqual([1, 1]);
    await answer(toDocument, 'REJECTED');
    expect([await countAt(9), await countAt(11), await countAt(12)]).toEqual([1, 2, 2]);
  });
});

describe('invitations', () => {
  const remaining = async () => (await itemsOf('Invitation')).map(({ email, type }) => `${email} ${type}`).toSorted();
  const finishJobs = async () => {
    const runner = new JobRunner(Date.now());
    for (const { body } of queues.messagesOf('jobs')) await runner.finish(body);
  };
  const fill = async () => {
    for (const target of Object.values(targets)) await invite({ ...target, invitedBy: inviter });
    queues.clear();
  };

  test.each<[string, string[]]>([
    ['document', ['folder_user', 'org_user']],
    ['folder', ['doc_user', 'org_user']],
    ['organization', []],
  ])('to a deleted %s are not listed any more, and purged', async (what, kept) => {
    await fill();
    await customer.untyped(...deletions[what]!);
    if (what !== 'organization') {
      const ofGrace = { ...acme, email: toDocument.email };
      for (const rows of [await customer.ok(LIST, acme), await customer.ok(RECEIVED, ofGrace)])
        expect(rows.map(({ type }: { type: string }) => type).toSorted()).toEqual(kept);
    }
    await finishJobs();
    expect(await remaining()).toEqual(kept.map((type) => `grace@example.com ${type}`));
  });

  test('to documents in a deleted folder are not listed any more', async () => {
    await customer.ok('/v2/organizations/documents/add', {
      ...acme,
      folderId: 'drafts',
      documents: [{ documentId: 'plan' }],
    });
    await invite({ ...toDocument, documentId: 'plan' });
    await customer.untyped(...deletions.folder!);
    expect(await statuses()).toEqual([]);
  });

  test('to a deleted document are not those to the next one with its id, also while that one is migrated', async () => {
    await fill();
    await customer.untyped(...deletions.document!);
    await customer.addDocuments(['nda']);
    const documentIds = async () =>
      (await customer.ok(RECEIVED, { ...acme, email: toDocument.email, type: 'doc_user' })).map(
        ({ documentId }: { documentId: string }) => documentId,
      );
    expect(await documentIds()).toEqual([]);
    await invite(toDocument);
    expect(await documentIds()).toEqual(['nda']);
    queues.clear();
    const ids = { ...acme, documentId: 'nda', newDocumentId: 'nda-2' };
    await customer.ok('/v2/organizations/documents/migrate', ids);
    await finishJobs();
    expect(await documentIds()).toEqual(['nda-2']);
    expect((await itemsOf('Invitation')).map(({ documentId }) => documentId ?? '').toSorted()).toEqual([
      '',
      '',
      'nda',
      'nda-2',
    ]);
  });

  test.each<[string, object]>([
    ['everywhere', {}],
    ['in the organization', { organizationIds: ['acme'] }],
  ])('of an erased user are erased %s, and their name in others too', async (_where, where) => {
    await fill();
    await invite({ ...toOrganization, email: 'second@example.com' });
    await accept({ ...toOrganization, email: 'second@example.com' }, { userId: 'grace', email: 'second@example.com' });
    await customer.addUsers([grace, { userId: 'ada', email: 'ada@example.com' }]);
    await invite({ ...toOrganization, email: 'linus@example.com', invitedBy: inviter });
    queues.clear();
    await customer.ok('/v2/users/data/delete', { ...where, userIds: ['grace', 'ada'] });
    await finishJobs();
    expect(await remaining()).toEqual(['linus@example.com org_user']);
    expect((await itemsOf('Invitation'))[0]!.invitedBy).toBeUndefined();
  });

  test('stay if they were made after the erasure began', async () => {
    await customer.addUsers([grace]);
    queues.clear();
    await customer.ok('/v2/users/data/delete', { userIds: ['grace'] });
    await at(MINUTE, () => invite(toDocument));
    await finishJobs();
    expect(await remaining()).toEqual(['grace@example.com doc_user']);
  });
});

test('the profile of an unknown user is not created by an answer', async () => {
  await invite(toDocument);
  await answer(toDocument, 'REJECTED');
  expect(await table.get(UserEntity, { tenant: customer.apiKey, userId: 'grace' })).toBeUndefined();
  expect([...(await itemsByKey(engine, customer)).values()].filter(({ _t }) => _t === 'Grant')).toEqual([]);
});
