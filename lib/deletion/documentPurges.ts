import { type DeletedDocument, type PurgeHook, purgeItem } from '../content/documentPurge.ts';
import type { ContentKind, KindPurge } from '../content/kind.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { LiveChannelEntity } from '../live/entities.ts';
import { purgeResource, resourceEntities } from './purgeResource.ts';

const purgeAccess: PurgeHook<DeletedDocument> = {
  entities: resourceEntities,
  purge: (table, document, budget) => purgeResource(table, document, document.documentKey, budget),
};

export function purgesOf(kinds: readonly ContentKind[]): KindPurge[] {
  return kinds.flatMap(({ purge }) => (purge === 'none' ? [] : [purge]));
}

/** Without `withOrganization`, each entity with `ownedBy: 'document'` belongs to one of the hooks. */
export function documentPurges(
  { withOrganization = false }: Pick<DeletedDocument, 'withOrganization'> = {},
  kinds: readonly ContentKind[] = contentKinds,
): readonly PurgeHook<DeletedDocument>[] {
  const ofKinds = purgesOf(kinds).filter(({ organization }) => !withOrganization || organization === 'none');
  return [
    ...ofKinds.map(({ document }) => document),
    purgeAccess,
    ...(withOrganization ? [] : [purgeItem(LiveChannelEntity)]),
  ];
}
