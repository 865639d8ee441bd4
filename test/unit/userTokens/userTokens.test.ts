import { createPublicKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { jwtVerify, SignJWT } from 'jose';
import { accessRoles, resourceTypes, type UserAccess, type UserClaims } from '../../../lib/app/rules/access.ts';
import { isSignedBy, keyPairOf } from '../../../lib/crypto/ed25519.ts';
import type { Table } from '../../../lib/table/table.ts';
import { completeActor, fillActor, requireAbsent } from '../../../lib/userTokens/rules/actor.ts';
import { parseToken, toClaims, toPayload } from '../../../lib/userTokens/rules/claims.ts';
import { namedResources } from '../../../lib/userTokens/rules/namedResources.ts';
import {
  type AccessRemoval,
  disablingId,
  isEnough,
  seenRemovals,
  tokenAccess,
  tokenDocumentPermission,
} from '../../../lib/userTokens/rules/tokenAccess.ts';
import { UserCredentials } from '../../../lib/userTokens/userCredentials.ts';
import { allowedOrigin } from '../../../lib/workspaces/rules/domains.ts';
import { testProperty } from '../../support/testProperty.ts';
import { otherSpellings } from '../../support/tokenSpellings.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const NOW = 1_800_000_000_000;
const claims: UserClaims = {
  tenant: 'key_1',
  userId: 'ada',
  userKey: 'usr_1',
  tokenId: 'utk_1',
  answerKey: 'secret',
  isAdmin: false,
  issuedAt: NOW,
  expiresAt: NOW / 1000 + 172_800,
  grants: [],
};
const grantOn = (internalId: string, fields: object = {}) => ({
  organizationKey: 'org_1',
  resourceType: 'document' as const,
  internalId,
  accessRole: 'editor' as const,
  ...fields,
});

const anyClaims: fc.Arbitrary<UserClaims> = fc.record({
  tenant: fc.string(),
  userId: unicodeText({ minLength: 1 }),
  userKey: fc.string(),
  tokenId: fc.string(),
  answerKey: fc.string(),
  isAdmin: fc.boolean(),
  issuedAt: fc.nat(),
  expiresAt: fc.nat(),
  seen: fc.option(fc.array(fc.string(), { minLength: 1 }), { nil: undefined }),
  grants: fc.array(
    fc.record(
      {
        organizationKey: fc.constantFrom('org_1', 'org_2'),
        resourceType: fc.constantFrom(...resourceTypes),
        internalId: fc.string(),
        accessRole: fc.constantFrom(...accessRoles),
        expiresAt: fc.nat(),
      },
      { requiredKeys: ['organizationKey', 'resourceType', 'internalId', 'accessRole'] },
    ),
  ),
});

describe('the payload of a user token', () => {
  testProperty('keeps all claims when it is written and read', [anyClaims], (sent) => {
    const received = toClaims('svc', JSON.parse(JSON.stringify(toPayload('svc', sent))));
    const inOrder = ({ grants, ...others }: UserClaims) => ({
      ...others,
      grants: [...Map.groupBy(grants, ({ organizationKey }) => organizationKey).values()].flat(),
    });
    expect(received).toEqual(inOrder(sent));
  });

  test('is rejected if another service issued the token', () => {
    expect(toClaims('other', toPayload('svc', claims))).toBeUndefined();
  });

  test.each([
    [undefined],
    [null],
    ['x'],
    [{}],
    [{ ...toPayload('svc', claims), grants: [['org_1', [['xx', 'doc_1']]]] }],
  ])('cannot be %j', (payload) => {
    expect(toClaims('svc', payload)).toBeUndefined();
  });
});

describe('the signature of a user token', () => {
  const { privateKey, publicKey } = keyPairOf(Buffer.alloc(32, 7));
  const sign = async () =>
    new SignJWT({ ...toPayload('svc', claims) })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: '1.0' })
      .sign(privateKey);

  test('is verified with the public key, also by another library', async () => {
    const token = await sign();
    const parsed = parseToken('svc', token)!;
    expect(parsed).toMatchObject({ keyId: '1.0', claims: { userId: 'ada' } });
    expect(isSignedBy(publicKey, parsed.signedText, parsed.signature)).toBe(true);
    const verified = await jwtVerify(token, createPublicKey(privateKey));
    expect(verified.payload.sub).toBe('ada');
  });

  test('is not looked up for a tenant that the service cannot have named', async () => {
    const read: string[] = [];
    const table = { batchGet: async (...items: readonly object[]) => [void read.push(JSON.stringify(items))] };
    const readToken = async (tenant: string) => {
      const token = await new SignJWT({ ...toPayload('svc', { ...claims, tenant }) })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: '1.0' })
        .sign(privateKey);
      const credentials = new UserCredentials(table as unknown as Table, 'svc');
      const header = { authorization: `Bearer ${token}`, origin: undefined };
      return credentials.read(header, { now: NOW, fresh: false });
    };
    for (const tenant of ['', 'acme', 'key_1', `key_${'0'.repeat(28)}`])
      expect(await readToken(tenant)).toMatchObject({ caller: undefined });
    expect(read).toEqual([]);
    expect(await readToken(`key_${'0'.repeat(27)}`)).toMatchObject({ caller: undefined });
    expect(read).toHaveLength(1);
  });

  test('does not match another key, another text or another signature', async () => {
    const { signedText, signature } = parseToken('svc', await sign())!;
    const other = keyPairOf(Buffer.alloc(32, 8)).publicKey;
    expect(isSignedBy(other, signedText, signature)).toBe(false);
    expect(isSignedBy(publicKey, `${signedText}x`, signature)).toBe(false);
    expect(isSignedBy(publicKey, signedText, signature.subarray(1))).toBe(false);
  });

  test.each(['', 'a', 'a.b', 'a.b.c', 'a.b.c.d', '..', 'e30.e30.x'])('cannot be parsed from the text %j', (text) => {
    expect(parseToken('svc', text)).toBeUndefined();
  });

  test('cannot be parsed from another spelling of a token', async () => {
    for (const text of otherSpellings(await sign())) expect(parseToken('svc', text)).toBeUndefined();
  });

  test('cannot be parsed from a token with another algorithm', async () => {
    const [, payload, signature] = (await sign()).split('.');
    for (const alg of ['none', 'HS256', 'Ed448']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: '1.0' })).toString('base64url');
      expect(parseToken('svc', `${header}.${payload}.${signature}`)).toBeUndefined();
    }
  });
});

describe('the removals that a new token names', () => {
  const removedAt = (id: string, milliseconds: number) => ({
    ...{ id, internalId: 'doc_1', isRevocation: false },
    removedAt: NOW + milliseconds,
  });

  test('are those of the last minute', () => {
    expect(seenRemovals([removedAt('a', 0), removedAt('b', -60_000), removedAt('c', -60_001)], NOW)).toEqual([
      'a',
      'b',
    ]);
  });

  test('prevent a token if one of them was written after the start of the request', () => {
    expect(seenRemovals([removedAt('a', -60_001), removedAt('b', 1)], NOW)).toBe('overlaps');
  });
});

describe('the access of a user with a token', () => {
  const stored = (fields: Partial<UserAccess> = {}): UserAccess => ({
    exists: true,
    organizationKey: 'org_1',
    grants: [],
    now: NOW / 1000,
    ...fields,
  });
  const LATER = NOW / 1000 + 60;
  const nda = { internalId: 'doc_1', accessType: 'restricted' as const };
  const inFolder = {
    ...nda,
    folder: { internalId: 'fol_1', accessType: 'restricted' as const, ancestors: [{ internalId: 'fol_0' }] },
  };
  const roleWith = (
    grants: UserClaims['grants'],
    user = stored(),
    removals: readonly AccessRemoval[] = [],
    disabledAt?: number,
    seen?: readonly string[],
  ) =>
    tokenDocumentPermission(tokenAccess({ grants, issuedAt: NOW, seen }, { user, removals, disabledAt }), inFolder)
      .accessRole;
  const removal = (internalId: string, fields: Partial<AccessRemoval> = {}): AccessRemoval => ({
    internalId,
    removedAt: NOW + 1,
    isRevocation: false,
    ...fields,
  });

  testProperty(
    'includes the more permissive of the stored role and the role in the token',
    [fc.constantFrom(...accessRoles), fc.constantFrom(...accessRoles)],
    (storedRole, tokenRole) => {
      const user = stored({ grants: [grantOn('doc_1', { accessRole: storedRole })] });
      const role = roleWith([grantOn('doc_1', { accessRole: tokenRole })], user);
      expect(role).toBe([storedRole, tokenRole].includes('editor') ? 'editor' : 'viewer');
    },
  );

  test.each([
    [undefined, LATER, undefined],
    [LATER, undefined, undefined],
    [LATER, LATER + 1, LATER + 1],
    [LATER + 1, LATER, LATER + 1],
  ])('ends with the later of two equal roles: stored until %s, in the token until %s', (storedEnd, tokenEnd, end) => {
    const user = stored({ grants: [grantOn('doc_1', { expiresAt: storedEnd })] });
    const grants = [grantOn('doc_1', { expiresAt: tokenEnd })];
    const { expiresAt } = tokenDocumentPermission(
      tokenAccess({ grants, issuedAt: NOW }, { user, removals: [] }),
      inFolder,
    );
    expect(expiresAt).toBe(end);
  });

  test('includes a grant in the token on a folder above, although a stored grant on the document has a lower role', () => {
    const user = stored({ grants: [grantOn('doc_1', { accessRole: 'viewer' })] });
    expect(roleWith([grantOn('fol_0', { resourceType: 'folder' })], user)).toBe('editor');
  });

  test('does not include grants of the token in other organizations', () => {
    expect(roleWith([{ ...grantOn('doc_1'), organizationKey: 'org_2' }])).toBeUndefined();
  });

  test.each([
    ['its grant was removed', [removal('doc_1')]],
    ['the user was removed from the document', [removal('doc_1', { isRevocation: true })]],
    ['the user was removed from a folder above', [removal('fol_0', { isRevocation: true })]],
    ['the user was removed from the organization', [removal('org_1', { isRevocation: true })]],
  ])('ends when %s', (_what, removals) => {
    expect(roleWith([grantOn('doc_1')], stored(), removals)).toBeUndefined();
    const before = (milliseconds: number) =>
      removals.map((accessRemoval) => ({ ...accessRemoval, id: 'r', removedAt: NOW - milliseconds }));
    expect(roleWith([grantOn('doc_1')], stored(), before(60_000))).toBeUndefined();
    expect(roleWith([grantOn('doc_1')], stored(), before(60_001))).toBe('editor');
    expect(roleWith([grantOn('doc_1')], stored(), before(1), undefined, ['r'])).toBe('editor');
    expect(roleWith([grantOn('doc_1')], stored(), before(1), undefined, ['other'])).toBeUndefined();
  });

  test('keeps the stored role on a document that was moved into a folder that the user was removed from', () => {
    const user = stored({ grants: [grantOn('doc_1', { accessRole: 'viewer', grantedAt: NOW - 1 })] });
    const removals = [removal('fol_1', { isRevocation: true, folder: true })];
    expect(roleWith([], user, removals)).toBe('viewer');
  });

  describe('when the user was removed from a folder after the token was issued', () => {
    const MINUTE = 60_000;
    const fromFolder = removal('fol_9', { isRevocation: true, folder: true, removedAt: NOW + MINUTE });
    const movedDocument = (moved: { document?: number; folder?: number; ancestor?: number }) => ({
      ...{ ...nda, movedAt: moved.document },
      folder: {
        ...{ ...inFolder.folder, movedAt: moved.folder },
        ancestors: [{ internalId: 'fol_0', movedAt: moved.ancestor }],
      },
    });
    const roleOn = (
      internalId: string,
      moved: { document?: number; folder?: number; ancestor?: number },
      removals: readonly AccessRemoval[] = [fromFolder],
      grants: UserAccess['grants'] = [],
    ) =>
      tokenDocumentPermission(
        tokenAccess({ grants: [grantOn(internalId)], issuedAt: NOW }, { user: stored({ grants }), removals }),
        movedDocument(moved),
      ).accessRole;

    test.each([
      ['the document', 'doc_1', { document: NOW + 2 * MINUTE }],
      ['the folder of the document', 'doc_1', { folder: NOW + 2 * MINUTE }],
      ['a folder above', 'doc_1', { ancestor: NOW + 2 * MINUTE }],
      ['the granted folder', 'fol_1', { folder: NOW + 2 * MINUTE }],
      ['a folder above the granted folder', 'fol_1', { ancestor: NOW + 2 * MINUTE }],
      ['the document, by a request from just before the issue', 'doc_1', { document: NOW - MINUTE }],
      ['the document, before a second removal from the folder', 'doc_1', { document: NOW + 1 }],
    ])('ends a grant after a move of %s', (_what, internalId, moved) => {
      expect(roleOn(internalId, moved)).toBeUndefined();
      expect(roleOn(internalId, moved, [])).toBe('editor');
    });

    test.each([
      ['without a move', 'doc_1', {}],
      ['that were moved before the issue', 'doc_1', { document: NOW - MINUTE - 1, folder: 1, ancestor: 1 }],
      ['above the moved document', 'fol_1', { document: NOW + 2 * MINUTE }],
      ['above the moved folder', 'fol_0', { document: NOW + 2 * MINUTE, folder: NOW + 2 * MINUTE }],
    ])('keeps grants on resources %s', (_what, internalId, moved) => {
      expect(roleOn(internalId, moved)).toBe('editor');
    });

    test('keeps stored grants on moved documents', () => {
      expect(roleOn('doc_2', { document: NOW + 2 * MINUTE }, [fromFolder], [grantOn('doc_1')])).toBe('editor');
    });

    test.each([
      ['a removal before the issue', { ...fromFolder, removedAt: NOW - MINUTE - 1 }],
      ['a removal from another document', { ...fromFolder, internalId: 'doc_9', folder: undefined }],
      ['the removal of a grant on a folder', { ...fromFolder, isRevocation: false }],
    ])('does not end a grant because of %s', (_what, other) => {
      expect(roleOn('doc_1', { document: NOW + 2 * MINUTE }, [other])).toBe('editor');
    });
  });

  test('stays when a grant on the organization or a folder above was removed', () => {
    expect(roleWith([grantOn('doc_1')], stored(), [removal('org_1'), removal('fol_0')])).toBe('editor');
  });

  test('ends when the organization was disabled after the token was issued', () => {
    expect(roleWith([grantOn('doc_1')], stored(), [], NOW + 1)).toBeUndefined();
    expect(roleWith([grantOn('doc_1')], stored(), [], NOW - 1)).toBeUndefined();
    expect(roleWith([grantOn('doc_1')], stored(), [], NOW - 60_001)).toBe('editor');
    expect(roleWith([grantOn('doc_1')], stored(), [], NOW - 1, [disablingId('org_1', NOW - 1)])).toBe('editor');
    expect(roleWith([grantOn('doc_1')], stored(), [], NOW - 1, [disablingId('org_2', NOW - 1)])).toBeUndefined();
  });

  test('keeps a stored grant that was given after a removal', () => {
    const user = stored({ grants: [grantOn('doc_1', { accessRole: 'viewer', grantedAt: NOW + 2 })] });
    expect(roleWith([grantOn('doc_1')], user, [removal('doc_1', { isRevocation: true })])).toBe('viewer');
  });

  test.each([
    ['editor', 'editor', true],
    ['editor', 'viewer', true],
    ['viewer', 'viewer', true],
    ['viewer', 'editor', false],
    [undefined, 'viewer', false],
  ] as const)('with the role %s is enough for %s: %s', (role, needed, expected) => {
    expect(isEnough(role, needed)).toBe(expected);
  });
});

describe('the actor of a request', () => {
  const ada = { userId: 'ada', profile: { name: 'Ada' } };
  const from = [{ path: 'comments.*.from', holds: 'user' as const }];

  test('is the user of the token in fields that are left out', () => {
    expect(fillActor({ comments: [{}, { from: null }, { from: {} }] }, from, ada)).toEqual({
      comments: [{ from: { userId: 'ada' } }, { from: { userId: 'ada' } }, { from: { userId: 'ada' } }],
    });
    expect(fillActor({}, [{ path: 'userId', holds: 'userId' }], ada)).toEqual({ userId: 'ada' });
    expect(fillActor({}, [{ path: 'userIds', holds: 'userIds' }], ada)).toEqual({ userIds: ['ada'] });
    expect(fillActor({}, [{ path: 'users', holds: 'users' }], ada)).toEqual({ users: [{ userId: 'ada' }] });
    expect(fillActor({ users: [{ status: 'away' }] }, [{ path: 'users', holds: 'users' }], ada)).toEqual({
      users: [{ status: 'away', userId: 'ada' }],
    });
    expect(fillActor({}, [{ path: 'userId', holds: 'userId', keepMissing: true }], ada)).toEqual({});
  });

  testProperty(
    'answers PERMISSION_DENIED instead of replacing another user',
    [fc.string().filter((id) => id !== 'ada')],
    (id) => {
      for (const [data, path, holds] of [
        [{ comments: [{}, { from: { userId: id } }] }, 'comments.*.from', 'user'],
        [{ userId: id }, 'userId', 'userId'],
        [{ userIds: ['ada', id] }, 'userIds', 'userIds'],
      ] as const)
        expect(() => fillActor(data, [{ path, holds }], ada)).toThrow(
          expect.objectContaining({ status: 'PERMISSION_DENIED' }),
        );
    },
  );

  test('changes no other field, and leaves values of other types to the schema', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const filled = fillActor(data, from, ada) as any;
        if (Array.isArray(filled?.comments)) return;
        expect(filled).toEqual(data);
      }),
    );
    expect(fillActor({ userId: 5 }, [{ path: 'userId', holds: 'userId' }], ada)).toEqual({ userId: 5 });
  });

  test('has the fields of the stored profile only', () => {
    const input = { comments: [{ from: { userId: 'ada', name: 'The boss', email: 'boss@example.com' }, text: 'x' }] };
    expect(completeActor(input, from, ada)).toEqual({
      comments: [{ from: { userId: 'ada', name: 'Ada' }, text: 'x' }],
    });
  });

  test('cannot send fields that are reserved for servers', () => {
    expect(() => requireAbsent({ a: [{ b: 1 }] }, ['a.*.b'])).toThrow(/a\.\*\.b is for API keys/);
    for (const data of [{ a: [{ b: false }] }, { a: [{ b: null }] }, { a: 1 }, {}]) requireAbsent(data, ['a.*.b']);
  });
});

describe('the resources in a request with a user token', () => {
  const named = { organizationId: 'acme' };
  test.each([
    ['organization', { ...named, documentId: 'nda' }, []],
    ['document', { ...named, documentId: 'nda' }, ['nda']],
    ['documents', { ...named, documentIds: ['a', 'b', 'a'], documentId: 'c' }, ['c', 'a', 'b']],
    ['selection', { ...named, documentIds: ['a'] }, ['a']],
    ['selection', named, []],
  ] as const)('of an endpoint on %s are read from %j', (on, input, documentIds) => {
    expect(namedResources({ on }, input)).toMatchObject({ organizationId: 'acme', documentIds });
  });

  test.each([
    ['document', named, 'documentId'],
    ['documents', named, 'documentIds'],
    ['organization', {}, 'organizationId'],
  ] as const)('of an endpoint on %s must be given: %j is INVALID_ARGUMENT', (on, input, field) => {
    expect(() => namedResources({ on }, input)).toThrow(
      expect.objectContaining({ status: 'INVALID_ARGUMENT', message: `${field} is required with a user token` }),
    );
  });
});

describe('an origin', () => {
  const domains = ['example.com', '*.example.org', 'localhost'];
  test.each(['https://example.com', 'https://example.com:8443', 'https://a.b.example.org', 'http://localhost:3000'])(
    '%s may read answers',
    (origin) => {
      expect(allowedOrigin(origin, domains)).toBe(origin);
    },
  );
  test.each([
    undefined,
    'null',
    '',
    'https://example.com.evil.test',
    'https://evil.test/example.com',
    'https://example.com/',
    'https://user@example.com',
    'file://example.com',
    'https://example.org',
  ])('%s may not read answers', (origin) => {
    expect(allowedOrigin(origin, domains)).toBeUndefined();
  });
});
