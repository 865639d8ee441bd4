import { ApiError } from '../../shared/errors.ts';
import { inParallel } from '../../shared/inParallel.ts';
import type { ItemOutcome } from '../../shared/results.ts';
import type { Stored } from '../../table/entity.ts';
import { pages, readAll } from '../../table/pages.ts';
import { AnyItem } from '../../table/purgePartition.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { storeCapability } from '../../table/storeCapability.ts';
import { type QueryPage, remove, replace, type Table, upsert } from '../../table/table.ts';
import type { Blob } from '../entities.ts';
import { partsOf, unpack, writeBlob } from '../storedBytes.ts';
import { type EditorName, type EditorVersion, EditorVersionEntity, EditorVersionPartEntity } from './entities.ts';

const PAGE = 1_000;
const PARALLEL = 4;

/** Versions of one editor. All lists begin with the newest. */
export class VersionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async list(
    editor: EditorName,
    limit: number,
    after?: string,
  ): Promise<QueryPage<EditorVersion> & { readonly bytes: number }> {
    const { editorId, internalId } = editor;
    return this.#table.query(EditorVersionEntity, editor, {
      prefix: [editorId, internalId],
      limit,
      descending: true,
      after,
    });
  }

  async all(editor: EditorName): Promise<Stored<EditorVersion>[]> {
    return readAll((after) => this.list(editor, PAGE, after));
  }

  async find(editor: EditorName, versionId: string): Promise<Stored<EditorVersion> | undefined> {
    return this.#table.get(EditorVersionEntity, { ...editor, versionId });
  }

  /** In the order of the ids. */
  async findEach(editor: EditorName, versionIds: readonly string[]): Promise<(Stored<EditorVersion> | undefined)[]> {
    return this.#table.getMany(
      EditorVersionEntity,
      versionIds.map((versionId) => ({ ...editor, versionId })),
    );
  }

  /** Throws NOT_FOUND. */
  async require(editor: EditorName, versionId: string): Promise<Stored<EditorVersion>> {
    const version = await this.find(editor, versionId);
    if (!version) throw unknownVersion();
    return version;
  }

  /** Returns the state as a Yjs update. Throws NOT_FOUND if the version is deleted meanwhile. */
  async readState(editor: EditorName, version: EditorVersion): Promise<Uint8Array> {
    return unpack(await this.#readBlob(editor, version));
  }

  async #readBlob(editor: EditorName, { blob }: EditorVersion): Promise<Uint8Array> {
    const parts = await this.#table.getMany(
      EditorVersionPartEntity,
      partsOf(blob).map((part) => ({ ...editor, ...part })),
    );
    const bytes = parts.flatMap((part) => part?.bytes ?? []);
    if (bytes.length < blob.parts) throw unknownVersion();
    return Buffer.concat(bytes);
  }

  /**
   * `change` runs again after a conflict. A version that then lives longer gets a blob of its own, because other versions
   * can share the old one. Throws NOT_FOUND.
   */
  async change(
    editor: EditorName,
    versionId: string,
    change: (stored: EditorVersion, all: () => Promise<readonly EditorVersion[]>) => Promise<EditorVersion>,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const stored = await this.require(editor, versionId);
      const { _r: revision, ...version } = stored;
      const changed = await change(version, () => this.all(editor));
      const copies = outlives(changed, stored);
      const next = copies ? { ...changed, blob: await this.#copyBlob(editor, changed) } : changed;
      const outcome = await this.#table.tryWrite([replace(EditorVersionEntity, { ...editor, ...next }, revision)]);
      if (copies && outcome === 'done') await this.#removeUnusedParts(editor, [stored]);
      if (copies && outcome !== 'done') await this.removeParts(editor, [next]);
      return outcome;
    });
  }

  /** Ids must be distinct. A version that does not exist fails in its own result only. */
  async delete(editor: EditorName, versionIds: readonly string[]): Promise<ItemOutcome[]> {
    const stored = await this.findEach(editor, versionIds);
    await this.remove(
      editor,
      stored.flatMap((version) => version ?? []),
    );
    return stored.map((version) =>
      version ? { success: true, message: 'Version deleted.' } : { success: false, message: 'Version does not exist.' },
    );
  }

  /** Versions that were changed since they were read stay. */
  async removeUnchanged(editor: EditorName, versions: readonly Stored<EditorVersion>[]): Promise<void> {
    await this.#remove(editor, versions, ({ versionId, _r: revision }) =>
      this.#table.write([remove(EditorVersionEntity, { ...editor, versionId }, revision)]),
    );
  }

  async remove(editor: EditorName, versions: readonly Stored<EditorVersion>[]): Promise<void> {
    await this.#remove(editor, versions, ({ versionId }) =>
      retryOnConflict(async () => {
        const version = await this.find(editor, versionId);
        return version
          ? this.#table.tryWrite([remove(EditorVersionEntity, { ...editor, versionId }, version._r)])
          : 'done';
      }),
    );
  }

  async #remove(
    editor: EditorName,
    versions: readonly Stored<EditorVersion>[],
    removeOne: (version: Stored<EditorVersion>) => Promise<unknown>,
  ): Promise<void> {
    if (versions.length === 0) return;
    await inParallel(versions, PARALLEL, removeOne);
    await this.#removeUnusedParts(editor, versions);
  }

  /** Call it after the versions were removed, so that it also sees a version that was added meanwhile. */
  async #removeUnusedParts(editor: EditorName, versions: readonly Pick<EditorVersion, 'blob'>[]): Promise<void> {
    const used = new Set((await this.all(editor)).map(({ blob }) => blob.id));
    await this.removeParts(
      editor,
      versions.filter(({ blob }) => !used.has(blob.id)),
    );
  }

  async removeParts(editor: EditorName, versions: readonly Pick<EditorVersion, 'blob'>[]): Promise<void> {
    await this.#table.removeKeys(
      versions.flatMap(({ blob }) => partsOf(blob).map((part) => EditorVersionPartEntity.key({ ...editor, ...part }))),
    );
  }

  /** Also removes what interrupted calls left. */
  async purgeParts(editor: EditorName): Promise<void> {
    const prefix = [editor.editorId, editor.internalId];
    const partition = EditorVersionPartEntity.partition(editor);
    const read = (after?: string) => this.#table.query(AnyItem, partition, { prefix, limit: PAGE, after });
    for await (const { values } of pages(read)) await this.#table.removeKeys(values.map(({ PK, SK }) => ({ PK, SK })));
  }

  async #copyBlob(editor: EditorName, version: EditorVersion): Promise<Blob> {
    const { expiresAt, createdAt } = version;
    return writeBlob(this.#table, await this.#readBlob(editor, version), createdAt, (part) =>
      upsert(EditorVersionPartEntity, { ...editor, ...part, expiresAt }),
    );
  }
}

/** Whether a version lives longer than another. */
export function outlives(one: Pick<EditorVersion, 'expiresAt'>, other: Pick<EditorVersion, 'expiresAt'>): boolean {
  return (one.expiresAt ?? Infinity) > (other.expiresAt ?? Infinity);
}

export function unknownVersion(): ApiError {
  return new ApiError('NOT_FOUND', 'Version does not exist.');
}

export const readVersions = /* @__PURE__ */ storeCapability(VersionStore, ['GetItem', 'BatchGetItem', 'Query']);

export const changeVersions = /* @__PURE__ */ storeCapability(VersionStore, [
  readVersions,
  'PutItem',
  'DeleteItem',
  'BatchWriteItem',
]);
