import { jsonBytes } from '../../shared/bytes.ts';
import { UPDATES_ANSWER_BYTES } from '../rules/editors.ts';
import { toVersionResponse } from '../rules/versions.ts';
import { openDocument } from '../rules/yjs/document.ts';
import { readValue } from '../rules/yjs/readValue.ts';
import type { CrdtValue } from '../rules/yjs/values.ts';
import type { FoundEditor } from './findVersions.ts';
import type { VersionStore } from './versionStore.ts';

type Reader = Pick<VersionStore, 'require' | 'readState'>;

/** Throws NOT_FOUND for an unknown version. */
export async function readVersionValue(
  versions: Reader,
  { editor, head }: FoundEditor,
  versionId: string,
): Promise<CrdtValue> {
  const state = await versions.readState(editor, await versions.require(editor, versionId));
  return readValue(openDocument([state]), head.type, head.contentKey);
}

/** Leaves out the value if it is too large for an answer with the state. Throws NOT_FOUND for an unknown version. */
export async function readVersion(
  versions: Reader,
  { editor, head }: FoundEditor,
  versionId: string,
  includesState: boolean,
) {
  const stored = await versions.require(editor, versionId);
  const update = await versions.readState(editor, stored);
  const version = toVersionResponse(stored);
  const data = readValue(openDocument([update]), head.type, head.contentKey);
  if (!includesState) return { version, data };
  const state = Buffer.from(update).toString('base64');
  const isTooLarge = jsonBytes(version) + jsonBytes(data) + state.length > UPDATES_ANSWER_BYTES - 10_000;
  return { version, ...(!isTooLarge && { data }), state };
}
