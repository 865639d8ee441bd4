import { describe, expect, test } from '@jest/globals';
import { accessChangeOf } from '../../../lib/live/rules/access.ts';
import type { ItemChange } from '../../../lib/live/rules/hints.ts';

const ORGANIZATION = 'T#key_1#ORGANIZATION#org_1';
const user = { kind: 'user', tenantPart: 'key_1', userPart: 'ada', organizationKey: 'org_1' };
const organization = { kind: 'organization', tenantPart: 'key_1', organizationKey: 'org_1' };
const document = { kind: 'document', tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1' };

function changeOf(change: ItemChange['change'], PK: string, SK: string, item: object = {}): ItemChange {
  return { change, key: { PK, SK }, item: change === 'remove' ? undefined : { ...item }, at: 0 };
}

describe('accessChangeOf', () => {
  test.each<[string, ItemChange, object]>([
    ['a removed grant', changeOf('remove', `${ORGANIZATION}#USER#ada`, 'GRANT#document#doc_1'), user],
    ['a changed grant', changeOf('modify', `${ORGANIZATION}#USER#ada`, 'GRANT#organization#org_1'), user],
    ['the record of a removed grant', changeOf('insert', `${ORGANIZATION}#USER#ada`, 'GRANT_REMOVED~#doc_1'), user],
    [
      'a user who was removed from a resource',
      changeOf('modify', 'T#key_1#USER#ada', 'PROFILE', { revocations: [] }),
      { kind: 'user', tenantPart: 'key_1', userPart: 'ada' },
    ],
    [
      'an erased user',
      changeOf('remove', 'T#key_1#USER#ada', 'PROFILE'),
      { kind: 'user', tenantPart: 'key_1', userPart: 'ada' },
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
  ])('returns who may have lost access by %s', (_what, change, expected) => {
    expect(accessChangeOf(change)).toEqual(expected);
  });

  test.each<[string, ItemChange]>([
    ['a new grant', changeOf('insert', `${ORGANIZATION}#USER#ada`, 'GRANT#document#doc_1')],
    ['a changed profile', changeOf('modify', 'T#key_1#USER#ada', 'PROFILE', { name: 'Ada' })],
    ['a new document', changeOf('insert', `${ORGANIZATION}#DOCUMENTS`, 'nda', { internalId: 'doc_1' })],
    ['a renamed organization', changeOf('modify', 'T#key_1#ORGANIZATIONS', 'acme', { disabled: false })],
    ['a comment', changeOf('insert', `${ORGANIZATION}#DOCUMENT#doc_1#THREADS`, 'x')],
    ['an item of the service', changeOf('insert', 'S#RATE#x', 'y')],
  ])('returns nothing for %s', (_what, change) => {
    expect(accessChangeOf(change)).toBeUndefined();
  });
});
