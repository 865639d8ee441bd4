import { everywhere } from '../../directory/rules/access.ts';
import { type DocumentKeys, documentOf, type ItemChange, partitionName } from './hints.ts';

/**
 * From whom a change may have taken access: one user (`user`), one user in one document (`session`), all users in a
 * document, all users in an organization, or all users whose user tokens were revoked (`tokens`). `revocations` is the
 * number of times that all user tokens of the API key were revoked. `tenantPart` and `userPart` are ids as keys contain
 * them. A long id is a hash there.
 */
export type AccessChange =
  | {
      readonly kind: 'user';
      readonly tenantPart: string;
      readonly userPart: string;
      readonly organizationKey?: string;
      /** The internal ids of the documents to which user tokens from before the change may no longer give access. */
      readonly endsTokensOf: 'all' | readonly string[];
    }
  | ({ readonly kind: 'session'; readonly userId: string } & DocumentKeys)
  | ({ readonly kind: 'document' } & DocumentKeys)
  | { readonly kind: 'organization'; readonly tenantPart: string; readonly organizationKey: string }
  | { readonly kind: 'tokens'; readonly tenantPart: string; readonly revocations: number };

/** The entities whose changes can take access away. */
export const accessTypesOfItems = [
  'Grant',
  'User',
  'Document',
  'Folder',
  'FolderChange',
  'Organization',
  'AccessRemoval',
  'ApiKey',
  'DocumentSession',
] as const;

/** Returns whose access a change may take away, or undefined if the change takes no access away. */
export function accessChangeOf({ change, key, item }: ItemChange): AccessChange | undefined {
  const parts = key.PK.split('#');
  const [scope, tenantPart = '', kind] = parts;
  if (scope !== 'T') return undefined;
  if (item?._t === 'ApiKey') {
    const revocations = Number(item.userTokenRevocations ?? 0);
    return change === 'modify' && revocations > 0 ? { kind: 'tokens', tenantPart, revocations } : undefined;
  }
  if (kind === 'USER' && parts.length === 4 && key.SK === 'PROFILE') {
    const mayRemove = change === 'remove' || (change === 'modify' && item?.revocations !== undefined);
    if (!mayRemove) return undefined;
    const revocations = (item?.revocations ?? []) as readonly Removal[];
    const endsTokensOf = change === 'remove' ? 'all' : documentsOf(revocations);
    return { kind: 'user', tenantPart, userPart: parts[3] ?? '', endsTokensOf };
  }
  // Only disabling an organization takes access away. Adding or changing it does not.
  if (kind === 'ORGANIZATIONS' && parts.length === 3)
    return change === 'modify' && item?.disabled === true
      ? { kind: 'organization', tenantPart, organizationKey: String(item.internalId) }
      : undefined;
  if (kind !== 'ORGANIZATION') return undefined;
  const organizationKey = parts[3] ?? '';
  if (parts[4] === 'USER') {
    const userChange = { kind: 'user', tenantPart, userPart: parts[5] ?? '', organizationKey } as const;
    if (key.SK.startsWith('GRANT_REMOVED')) {
      if (item === undefined) return undefined;
      const removal = { organizationKey, resource: String(item.internalId), folder: item.folder === true };
      return { ...userChange, endsTokensOf: documentsOf([removal]) };
    }
    // A change of a stored grant does not end grants in user tokens, so `endsTokensOf` is empty.
    return key.SK.startsWith('GRANT#') && change !== 'insert' ? { ...userChange, endsTokensOf: [] } : undefined;
  }
  if (item?._t === 'DocumentSession') {
    const document = item.hasExpired === true ? documentOf(key.PK) : undefined;
    return document && { kind: 'session', ...document, userId: String(item.userId) };
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

/** Says that a user was removed from an organization, folder or document. All ids are internal. */
interface Removal {
  readonly organizationKey: string;
  readonly resource: string;
  readonly folder?: boolean | undefined;
}

/**
 * Returns the internal ids of documents from which users were removed. Returns `all` if one of the removals is from a
 * folder or an organization.
 */
function documentsOf(removals: readonly Removal[]): 'all' | string[] {
  const isDocument = ({ organizationKey, resource, folder }: Removal) =>
    folder !== true && resource !== organizationKey && resource !== everywhere;
  return removals.every(isDocument) ? removals.map(({ resource }) => resource) : 'all';
}
