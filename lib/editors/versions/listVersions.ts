import type { QueryPage } from '../../table/table.ts';
import type { EditorName, EditorVersion } from './entities.ts';
import type { VersionStore } from './versionStore.ts';

/** Reads of one call. A page with few named versions among many others ends early. */
const MAX_READS = 10;
/** A read has up to 4 MB, and an answer up to 6 MB. */
const MAX_BYTES_BEFORE = 1_000_000;

export async function listVersions(
  versions: Pick<VersionStore, 'list'>,
  editor: EditorName,
  { named, limit, after }: { readonly named: boolean; readonly limit: number; readonly after: string | undefined },
): Promise<QueryPage<EditorVersion>> {
  if (!named) return versions.list(editor, limit, after);
  const values: QueryPage<EditorVersion>['values'][number][] = [];
  let next = after;
  let bytes = 0;
  for (let reads = 0; reads < MAX_READS && values.length < limit && bytes < MAX_BYTES_BEFORE; reads++) {
    const page = await versions.list(editor, limit - values.length, next);
    values.push(...page.values.filter(({ isAutomatic }) => !isAutomatic));
    next = page.next;
    bytes += page.bytes;
    if (next === undefined) break;
  }
  return { values, next };
}
