import type { Organization } from './organizations.ts';

export interface OrganizationScope {
  readonly tenant: string;
  readonly organizationKey: string;
  /** If true, readers must combine the stored folders with the recorded changes. */
  readonly hasFolderChanges?: boolean | undefined;
  /** Whether jobs are removing users from folders. If so, moves must not enter or leave these folders. */
  readonly hasFolderRevocations?: boolean | undefined;
}

export function organizationPartition(
  { tenant, organizationKey }: Pick<OrganizationScope, 'tenant' | 'organizationKey'>,
  ...parts: readonly string[]
): string[] {
  return [tenant, 'ORGANIZATION', organizationKey, ...parts];
}

export function organizationScope(
  tenant: string,
  {
    internalId,
    folderChanges = 0,
    folderRevocations = 0,
  }: Pick<Organization, 'internalId' | 'folderChanges' | 'folderRevocations'>,
): OrganizationScope {
  return {
    tenant,
    organizationKey: internalId,
    ...(folderChanges > 0 && { hasFolderChanges: true }),
    ...(folderRevocations > 0 && { hasFolderRevocations: true }),
  };
}
