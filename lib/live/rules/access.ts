import { type DocumentKeys, documentOf, type ItemChange, partitionName } from './hints.ts';

/**
 * The users who may have lost access by a change: one user, the users of a document, or the users of an organization.
 * `userPart` is the user id as a part of keys, which is a hash for a long id.
 */
export type AccessChange =
  | { readonly kind: 'user'; readonly tenantPart: string; readonly userPart: string; readonly organizationKey?: string }
  | ({ readonly kind: 'document' } & DocumentKeys)
  | { readonly kind: 'organization'; readonly tenantPart: string; readonly organizationKey: string };

/** The entities whose changes can take access away. */
export const accessTypesOfItems = [
  'Grant',
  'User',
  'Document',
  'Folder',
  'FolderChange',
  'Organization',
  'AccessRemoval',
] as const;

/** Returns the users who may have lost access by a change. Returns undefined for a change that takes no access away. */
export function accessChangeOf({ change, key, item }: ItemChange): AccessChange | undefined {
  const parts = key.PK.split('#');
  const [scope, tenantPart = '', kind] = parts;
  if (scope !== 'T') return undefined;
  if (kind === 'USER' && parts.length === 4 && key.SK === 'PROFILE') {
    const mayRemove = change === 'remove' || (change === 'modify' && item?.revocations !== undefined);
    return mayRemove ? { kind: 'user', tenantPart, userPart: parts[3] ?? '' } : undefined;
  }
  // A new organization or a renamed one takes no access away.
  if (kind === 'ORGANIZATIONS' && parts.length === 3)
    return change === 'modify' && item?.disabled === true
      ? { kind: 'organization', tenantPart, organizationKey: String(item.internalId) }
      : undefined;
  if (kind !== 'ORGANIZATION') return undefined;
  const organizationKey = parts[3] ?? '';
  if (parts[4] === 'USER') {
    const isRemoval = key.SK.startsWith('GRANT_REMOVED');
    if (!isRemoval && !(key.SK.startsWith('GRANT#') && change !== 'insert')) return undefined;
    return { kind: 'user', tenantPart, userPart: parts[5] ?? '', organizationKey };
  }
  const organization = { kind: 'organization', tenantPart, organizationKey } as const;
  switch (parts.length === 5 ? partitionName(key.PK) : '') {
    case 'DOCUMENTS': {
      if (change === 'insert') return undefined;
      if (item === undefined) return organization;
      const document = documentOf(`${key.PK.slice(0, -1)}#${String(item.internalId)}`);
      return document && { kind: 'document', ...document };
    }
    case 'FOLDERS':
      return change === 'insert' ? undefined : organization;
    case 'FOLDER_CHANGES':
      return change === 'insert' ? organization : undefined;
    default:
      return undefined;
  }
}
