import { describe, expect, test } from '@jest/globals';
import type { ItemChange } from '../../../lib/content/rules/hints.ts';
import { accessChangeOf } from '../../../lib/live/rules/access.ts';

const ORGANIZATION = 'T#key_1#ORGANIZATION#org_1';
const user = { kind: 'user', tenantPart: 'key_1', userPart: 'ada', organizationKey: 'org_1', endsTokensOf: [] };
const everywhere = { kind: 'user', tenantPart: 'key_1', userPart: 'ada' };
const organization = { kind: 'organization', tenantPart: 'key_1', organizationKey: 'org_1' };
const document = { kind: 'document', tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1' };

function changeOf(change: ItemChange['change'], PK: string, SK: string, item: object = {}): ItemChange {
  return { change, key: { PK, SK }, item: change === 'remove' ? undefined : { ...item }, at: 0 };
}

function jobOf(change: ItemChange['change'], kind: string): ItemChange {
  const data = JSON.stringify({ organizationKey: 'org_1' });
  return changeOf(change, 'T#key_1#JOB#job_1', 'JOB', { _t: 'Job', kind, data });
}

describe('accessChangeOf', () => {
  test.each<[string, ItemChange, object]>([
    ['a removed grant', changeOf('remove', `${ORGANIZATION}#USER#ada`, 'GRANT#document#doc_1'), user],
    ['a changed grant', changeOf('modify', `${ORGANIZATION}#USER#ada`, 'GRANT#organization#org_1'), user],
    [
      'the record of a removed grant on a document',
      changeOf('insert', `${ORGANIZATION}#USER#ada`, 'GRANT_REMOVED#grant#doc_1', { internalId: 'doc_1' }),
      { ...user, endsTokensOf: ['doc_1'] },
    ],
    [
      'the record of a removed grant on a folder',
      changeOf('modify', `${ORGANIZATION}#USER#ada`, 'GRANT_REMOVED#grant#f', { internalId: 'f', folder: true }),
      { ...user, endsTokensOf: 'all' },
    ],
    [
      'the record of a removed grant on the organization',
      changeOf('insert', `${ORGANIZATION}#USER#ada`, 'GRANT_REMOVED#grant#org_1', { internalId: 'org_1' }),
      { ...user, endsTokensOf: 'all' },
    ],
    [
      'a user who was removed from a document',
      changeOf('modify', 'T#key_1#USER#ada', 'PROFILE', {
        revocations: [{ organizationKey: 'org_1', resource: 'doc_1' }],
      }),
      { ...everywhere, endsTokensOf: ['doc_1'] },
    ],
    [
      'a user who was removed from a folder',
      changeOf('modify', 'T#key_1#USER#ada', 'PROFILE', {
        revocations: [{ organizationKey: 'org_1', resource: 'f', folder: true }],
      }),
      { ...everywhere, endsTokensOf: 'all' },
    ],
    ['an erased user', changeOf('remove', 'T#key_1#USER#ada', 'PROFILE'), { ...everywhere, endsTokensOf: 'all' }],
    [
      'a session whose access has expired',
      changeOf('modify', `${ORGANIZATION}#DOCUMENT#doc_1#LIVE_SESSIONS`, 'ada', {
        _t: 'DocumentSession',
        userId: 'ada',
        hasExpired: true,
      }),
      { ...document, kind: 'session', userId: 'ada' },
    ],
    [
      'an API key after all its user tokens were revoked',
      changeOf('modify', 'T#key_1', 'KEY', { _t: 'ApiKey', userTokenRevocations: 2 }),
      { kind: 'tokens', tenantPart: 'key_1', revocations: 2 },
    ],
    ['a changed document', changeOf('modify', `${ORGANIZATION}#DOCUMENTS`, 'nda', { internalId: 'doc_1' }), document],
    ['a deleted document', changeOf('remove', `${ORGANIZATION}#DOCUMENTS`, 'nda'), organization],
    ['a changed folder', changeOf('modify', `${ORGANIZATION}#FOLDERS`, 'f'), organization],
    ['a folder change that a job applies', changeOf('insert', `${ORGANIZATION}#FOLDER_CHANGES`, 'f'), organization],
    [
      'a disabled organization',
      changeOf('modify', 'T#key_1#ORGANIZATIONS', 'acme', { internalId: 'org_1', disabled: true }),
      organization,
    ],
    ['a deleted organization', jobOf('insert', 'purgeOrganization'), organization],
  ])('returns who may have lost access by %s', (_what, change, expected) => {
    expect(accessChangeOf(change)).toEqual(expected);
  });

  test.each<[string, ItemChange]>([
    ['a new grant', changeOf('insert', `${ORGANIZATION}#USER#ada`, 'GRANT#document#doc_1')],
    ['a changed profile', changeOf('modify', 'T#key_1#USER#ada', 'PROFILE', { name: 'Ada' })],
    [
      'the expiry of the record of a removed grant',
      changeOf('remove', `${ORGANIZATION}#USER#ada`, 'GRANT_REMOVED#grant#doc_1'),
    ],
    [
      'a user who connects',
      changeOf('insert', `${ORGANIZATION}#DOCUMENT#doc_1#LIVE_SESSIONS`, 'ada', { _t: 'DocumentSession' }),
    ],
    ['a changed API key', changeOf('modify', 'T#key_1', 'KEY', { _t: 'ApiKey' })],
    ['a new API key', changeOf('insert', 'T#key_1', 'KEY', { _t: 'ApiKey', userTokenRevocations: 0 })],
    ['a new document', changeOf('insert', `${ORGANIZATION}#DOCUMENTS`, 'nda', { internalId: 'doc_1' })],
    ['a renamed organization', changeOf('modify', 'T#key_1#ORGANIZATIONS', 'acme', { disabled: false })],
    ['a run of the job of a deleted organization', jobOf('modify', 'purgeOrganization')],
    ['the job of deleted documents', jobOf('insert', 'purgeDocuments')],
    ['a comment', changeOf('insert', `${ORGANIZATION}#DOCUMENT#doc_1#THREADS`, 'x')],
    ['an item of the service', changeOf('insert', 'S#RATE#x', 'y')],
  ])('returns nothing for %s', (_what, change) => {
    expect(accessChangeOf(change)).toBeUndefined();
  });
});
