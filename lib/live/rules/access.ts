import type { ItemChange } from '../../content/rules/hints.ts';
import { everywhere } from '../../directory/rules/access.ts';
import { type DocumentKeys, documentOf } from './hints.ts';

/**
 * From whom a change may have taken access. `session` is one user in one document, `tokens` all users of user tokens
 * that were issued before a revocation. `tenantPart` and `userPart` are ids as keys contain them: a long id is a hash
 * there.
 */
export type AccessChange =
  | {
      readonly kind: 'user';
      readonly tenantPart: string;
      readonly userPart: string;
      readonly organizationKey?: string;
      /**
       * User tokens from before the change may no longer give access to these documents (internal ids), or to any
       * document (`all`).
       */
      readonly endsTokensOf: 'all' | readonly string[];
    }
  | ({ readonly kind: 'session'; readonly userId: string } & DocumentKeys)
  | ({ readonly kind: 'document' } & DocumentKeys)
  | { readonly kind: 'organization'; readonly tenantPart: string; readonly organizationKey: string }
  | { readonly kind: 'tokens'; readonly tenantPart: string; readonly revocations: number };

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
  // A change of a stored grant does not end grants in user tokens.
  return key.SK.startsWith('GRANT#') && change !== 'insert' ? { ...user, endsTokensOf: [] } : undefined;
}

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

interface Removal {
  readonly organizationKey: string;
  readonly resource: string;
  readonly folder?: boolean | undefined;
}

function documentsOf(removals: readonly Removal[]): 'all' | string[] {
  const isDocument = ({ organizationKey, resource, folder }: Removal) =>
    folder !== true && resource !== organizationKey && resource !== everywhere;
  return removals.every(isDocument) ? removals.map(({ resource }) => resource) : 'all';
}
