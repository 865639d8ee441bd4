import { everywhere } from '../../directory/rules/access.ts';
import { type DocumentKeys, documentOf, type ItemChange } from './hints.ts';

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
export function accessChangeOf(changed: ItemChange): AccessChange | undefined {
  const { change, key, item } = changed;
  const [scope, tenantPart = '', kind = '', id = '', ...parts] = key.PK.split('#');
  if (scope !== 'T') return undefined;
  if (item?._t === 'ApiKey') {
    const revocations = Number(item.userTokenRevocations ?? 0);
    return change === 'modify' && revocations > 0 ? { kind: 'tokens', tenantPart, revocations } : undefined;
  }
  if (item?._t === 'Job') {
    if (change !== 'insert' || item.kind !== 'purgeOrganization') return undefined;
    const { organizationKey } = JSON.parse(String(item.data)) as { readonly organizationKey: string };
    return { kind: 'organization', tenantPart, organizationKey };
  }
  if (item?._t === 'DocumentSession') {
    const document = item.hasExpired === true ? documentOf(key.PK) : undefined;
    return document && { kind: 'session', ...document, userId: String(item.userId) };
  }
  switch (kind) {
    case 'USER':
      return parts.length === 0 && key.SK === 'PROFILE' ? profileChange(changed, tenantPart, id) : undefined;
    case 'ORGANIZATIONS':
      // Only disabling an organization takes access away. Adding or changing it does not.
      return change === 'modify' && item?.disabled === true
        ? { kind: 'organization', tenantPart, organizationKey: String(item.internalId) }
        : undefined;
    case 'ORGANIZATION':
      return parts[0] === 'USER'
        ? grantChange(changed, { kind: 'user', tenantPart, userPart: parts[1] ?? '', organizationKey: id })
        : directoryChange(changed, parts.join('#'), { kind: 'organization', tenantPart, organizationKey: id });
    default:
      return undefined;
  }
}

function profileChange({ change, item }: ItemChange, tenantPart: string, userPart: string): AccessChange | undefined {
  const user = { kind: 'user', tenantPart, userPart } as const;
  if (change === 'remove') return { ...user, endsTokensOf: 'all' };
  if (change === 'insert' || item?.revocations === undefined) return undefined;
  return { ...user, endsTokensOf: documentsOf(item.revocations as readonly Removal[]) };
}

function grantChange(
  { change, key, item }: ItemChange,
  user: Omit<AccessChange & { kind: 'user' }, 'endsTokensOf'> & { readonly organizationKey: string },
): AccessChange | undefined {
  if (key.SK.startsWith('GRANT_REMOVED')) {
    if (item === undefined) return undefined;
    const { organizationKey } = user;
    const removal = { organizationKey, resource: String(item.internalId), folder: item.folder === true };
    return { ...user, endsTokensOf: documentsOf([removal]) };
  }
  // A change of a stored grant does not end grants in user tokens, so `endsTokensOf` is empty.
  return key.SK.startsWith('GRANT#') && change !== 'insert' ? { ...user, endsTokensOf: [] } : undefined;
}

/** Returns whose access a change of a document or folder may take away. `list` is the list of the organization that has the item. */
function directoryChange(
  { change, key, item }: ItemChange,
  list: string,
  organization: AccessChange & { kind: 'organization' },
): AccessChange | undefined {
  switch (list) {
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
