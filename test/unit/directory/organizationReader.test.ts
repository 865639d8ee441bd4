import { describe, expect, test } from '@jest/globals';
import { type Organization, type OrganizationKeys, OrganizationReader } from '../../../lib/directory/organizations.ts';
import type { Stored } from '../../../lib/table/entity.ts';
import type { Table } from '../../../lib/table/table.ts';

const first: Stored<Organization> = {
  organizationId: 'acme',
  internalId: 'org_1',
  disabled: false,
  createdAt: 0,
  lastUpdated: 0,
  _r: 1,
};

/** Returns a reader of a table with one organization, which tests can change, and a log of the reads in their order. */
function setUp() {
  const state = { organization: first as Stored<Organization> | undefined, log: [] as string[] };
  const table = {
    async get() {
      const { organization } = state;
      state.log.push('organization begins');
      await Promise.resolve();
      state.log.push('organization ends');
      return organization;
    },
  } as unknown as Table;
  const reader = new OrganizationReader(table);
  const read = () =>
    reader.readWithin('tenant', 'acme', ({ internalId, folderChanges = 0 }: OrganizationKeys) => {
      state.log.push(`content of ${internalId}, ${folderChanges} changes`);
      return Promise.resolve(`${internalId}, ${folderChanges} changes`);
    });
  return { state, read };
}

describe('reading content of an organization', () => {
  test('reads the organization before the content on the first call, and both in parallel later', async () => {
    const { state, read } = setUp();
    await read();
    expect(state.log).toEqual(['organization begins', 'organization ends', 'content of org_1, 0 changes']);
    state.log = [];
    expect(await read()).toEqual({ organization: first, content: 'org_1, 0 changes' });
    expect(state.log).toEqual(['organization begins', 'content of org_1, 0 changes', 'organization ends']);
  });

  test('returns the content of the new organization after a deletion and a creation under the same id', async () => {
    const { state, read } = setUp();
    await read();
    state.organization = { ...first, internalId: 'org_2' };
    expect((await read()).content).toBe('org_2, 0 changes');
  });

  test('reads the content again if a change of folders has begun since the last read', async () => {
    const { state, read } = setUp();
    await read();
    state.organization = { ...first, folderChanges: 1, _r: 2 };
    expect((await read()).content).toBe('org_1, 1 changes');
    state.log = [];
    await read();
    expect(state.log.filter((line) => line.startsWith('content'))).toEqual(['content of org_1, 1 changes']);
  });

  test('throws INVALID_ARGUMENT for an organization that was deleted since the last read', async () => {
    const { state, read } = setUp();
    await read();
    state.organization = undefined;
    await expect(read()).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' });
  });

  test('throws an error of a read with current keys, and ignores one with outdated keys', async () => {
    const { state } = setUp();
    const table = { get: () => Promise.resolve(state.organization) } as unknown as Table;
    const reader = new OrganizationReader(table);
    const read = () =>
      reader.readWithin('tenant', 'acme', ({ internalId }) =>
        internalId === 'org_1' ? Promise.reject(new Error('no such document')) : Promise.resolve(internalId),
      );
    await expect(read()).rejects.toThrow('no such document');
    await expect(read()).rejects.toThrow('no such document');
    state.organization = { ...first, internalId: 'org_2' };
    expect((await read()).content).toBe('org_2');
  });
});
