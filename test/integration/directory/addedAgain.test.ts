import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, jest, test } from '@jest/globals';
import { DocumentReader } from '../../../lib/directory/documents.ts';
import { FolderReader } from '../../../lib/directory/folders/folders.ts';
import { OrganizationReader } from '../../../lib/directory/organizations.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';

const { customer, itemsOf } = acmeWorld({ table: 'memory' });
const acme = { organizationId: 'acme' };

interface Finder {
  find(...args: never[]): Promise<unknown>;
}

test.each<[string, Finder, path: string, changes: object, deletion: object, type: string]>([
  [
    'organization',
    OrganizationReader.prototype,
    '/v2/organizations',
    { organizations: [{ ...acme, plan: 'pro' }] },
    { organizationIds: ['acme'] },
    'Organization',
  ],
  [
    'folder',
    FolderReader.prototype,
    '/v2/organizations/folders',
    { ...acme, folders: [{ folderId: 'a', folderName: 'A' }] },
    { ...acme, folderId: 'a' },
    'Folder',
  ],
  [
    'document',
    DocumentReader.prototype,
    '/v2/organizations/documents',
    { ...acme, documents: [{ documentId: 'nda', documentName: 'NDA' }] },
    { ...acme, documentIds: ['nda'] },
    'Document',
  ],
])(
  'an update of the %s that was deleted and added again after the read does not restore the deleted one',
  async (_what, reader, path, changes, deletion, type) => {
    const addAll = async () => {
      await customer.addOrganizations(['acme']);
      await customer.ok('/v2/organizations/folders/add', { ...acme, folders: [{ folderId: 'a' }] });
      await customer.addDocuments(['nda']);
    };
    const internalId = async () => (await itemsOf(type))[0]!.internalId as string;
    await addAll();
    const deleted = await internalId();
    const deleteAndAdd = AsyncLocalStorage.bind(async () => {
      await customer.untyped(`${path}/delete`, deletion);
      await addAll();
      return internalId();
    });
    let added: string | undefined;
    const { find } = reader;
    jest.spyOn(reader, 'find').mockImplementationOnce(async function (this: Finder, ...args) {
      const read = await find.apply(this, args);
      added = await deleteAndAdd();
      return read;
    });
    await customer.untyped(`${path}/update`, changes);
    expect(added).not.toBe(deleted);
    expect(await internalId()).toBe(added);
  },
);
