import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { newId } from '../../lib/shared/ids.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import type { Customer } from './customer.ts';
import { type Engine, TABLE_NAME } from './engine.ts';
import { fillDocument } from './fillOrganization.ts';
import { itemsByKey, itemsOfOrganization, mentions } from './items.ts';
import type { Command } from './leanClient.ts';
import { replaceIds } from './replaceIds.ts';
import { times } from './times.ts';

type Stored = Record<string, any>;

interface Size {
  readonly users: number;
  readonly documents: number;
  readonly folders: number;
  /** Every n-th document has content, beginning with the first. */
  readonly contentEvery: number;
}

export interface LargeOrganization {
  readonly internalId: string;
  /** All items of the organization. */
  readonly items: readonly Stored[];
}

/** Returns an id such as `user-00007`. The text order of these ids is their numeric order. */
export function numbered(name: string, number: number): string {
  return `${name}-${String(number).padStart(5, '0')}`;
}

const BATCH = 25;
const PARALLEL = 8;

/**
 * Creates a large organization within seconds. First, handlers create one folder, one document and one user with all
 * their records. The other folders, documents and users are copies of these items under other ids. Each document is in
 * a folder, and one user has a grant on it and is in its contact list.
 */
export async function makeLargeOrganization(
  engine: Engine,
  client: { send(command: Command): Promise<unknown> },
  customer: Customer,
  organizationId: string,
  size: Size,
): Promise<LargeOrganization> {
  const [user, folder, document] = ['user', 'folder', 'document'].map((name) => numbered(name, 0)) as [
    string,
    string,
    string,
  ];
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  await customer.ok('/v2/organizations/folders/add', {
    organizationId,
    createOrganization: true,
    folders: [{ folderId: folder, accessType: 'restricted' }],
  });
  await customer.ok('/v2/organizations/documents/add', {
    organizationId,
    folderId: folder,
    documents: [{ documentId: document, documentName: 'old' }],
  });
  await customer.ok('/v2/users/add', { organizationId, users: [{ userId: user, name: `Name of ${user}` }] });
  await customer.ok('/v2/users/add', {
    organizationId,
    documentId: document,
    users: [{ userId: user, name: `Name of ${user}` }],
  });
  const before = await itemsByKey(engine, customer);
  const internalId = [...before.values()].find(
    ({ _t, organizationId: id }) => _t === 'Organization' && id === organizationId,
  )?.internalId as string;
  await fillDocument(customer, { organizationId, documentId: document }, { mark: 'old', each: 1 });
  const all = await itemsByKey(engine, customer);

  const ownItems = itemsOfOrganization(all, internalId);
  const idOf = (type: string) => ownItems.find(({ _t }) => _t === type)?.internalId as string;
  const [folderInternal, documentInternal] = [idOf('Folder'), idOf('Document')];
  const profile = [...all.values()].find(({ _t, userId }) => _t === 'User' && userId === user)!;
  const isAbout = (id: string) => (item: Stored) => mentions(item, id);
  const ofDocument = ownItems.filter(isAbout(documentInternal));
  const withoutContent = ofDocument.filter(({ PK, SK }) => before.has(`${PK} ${SK}`));
  const ofUser = ownItems.filter((item) => !ofDocument.includes(item) && mentions(item, user));
  const ofFolder = ownItems.filter((item) => !ofDocument.includes(item) && mentions(item, folderInternal));

  const folders = [folderInternal, ...numbers(size.folders).map(() => newId('fld', Date.now()))];
  const copies: Stored[] = [];
  for (const number of numbers(size.users))
    copies.push(
      ...[...ofUser, profile].map((item) =>
        replaceIds(item, { [user]: numbered('user', number), [profile.internalId]: newId('usr', Date.now()) }),
      ),
    );
  for (const number of numbers(size.folders))
    copies.push(
      ...ofFolder.map((item) =>
        replaceIds(item, { [folder]: numbered('folder', number), [folderInternal]: folders[number]! }),
      ),
    );
  for (const number of numbers(size.documents)) {
    const into = number % size.folders;
    const ids = {
      [document]: numbered('document', number),
      [documentInternal]: newId('doc', Date.now()),
      [user]: numbered('user', number % size.users),
      [folder]: numbered('folder', into),
      [folderInternal]: folders[into]!,
    };
    copies.push(
      ...(number % size.contentEvery === 0 ? ofDocument : withoutContent).map((item) => replaceIds(item, ids)),
    );
  }
  const existingUserIds = new Set(
    [...all.values()].flatMap(({ _t, userId }) => (_t === 'User' ? [userId as string] : [])),
  );
  const written = copies.filter(({ _t, userId }) => _t !== 'User' || !existingUserIds.has(userId));
  const batches = times(Math.ceil(written.length / BATCH), (index) =>
    written.slice(index * BATCH, (index + 1) * BATCH),
  );
  await inParallel(batches, PARALLEL, async (batch) => {
    await client.send(
      new BatchWriteCommand({ RequestItems: { [TABLE_NAME]: batch.map((Item) => ({ PutRequest: { Item } })) } }),
    );
  });
  return { internalId, items: [...ownItems, ...copies.filter(({ _t }) => _t !== 'User')] };
}

/** Returns the numbers of the copies, from 1. Number 0 is what the handlers create. */
function numbers(count: number): number[] {
  return times(count - 1, (index) => index + 1);
}
