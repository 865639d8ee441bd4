import { ApiError } from '../../shared/errors.ts';
import { inParallel } from '../../shared/inParallel.ts';
import type { ItemOutcome } from '../../shared/results.ts';
import type { Stored } from '../../table/entity.ts';
import { readAll } from '../../table/pages.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { storeCapability } from '../../table/storeCapability.ts';
import { type QueryPage, remove, replace, type Table, upsert } from '../../table/table.ts';
import { partsOf, unpack } from '../storedBytes.ts';
import { type EditorName, type EditorVersion, EditorVersionEntity, EditorVersionPartEntity } from './entities.ts';

const PAGE = 1_000;
const PARALLEL = 4;

/** Versions of one editor. All lists begin with the newest. */
export class VersionStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async list(editor: EditorName, limit: number, after?: string): Promise<QueryPage<EditorVersion>> {
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

  /** Throws NOT_FOUND. */
  async require(editor: EditorName, versionId: string): Promise<Stored<EditorVersion>> {
    const version = await this.find(editor, versionId);
    if (!version) throw unknownVersion();
    return version;
  }

  /** Returns the state as a Yjs update. Throws NOT_FOUND if the version is deleted meanwhile. */
  async readState(editor: EditorName, { blob }: EditorVersion): Promise<Uint8Array> {
    const parts = await this.#table.getMany(
      EditorVersionPartEntity,
      partsOf(blob).map((part) => ({ ...editor, ...part })),
    );
    const bytes = parts.flatMap((part) => part?.bytes ?? []);
    if (bytes.length < blob.parts) throw unknownVersion();
    return unpack(Buffer.concat(bytes));
  }

  /** `change` runs again after a conflict. Throws NOT_FOUND. */
  async change(
    editor: EditorName,
    versionId: string,
    change: (stored: EditorVersion, all: () => Promise<readonly EditorVersion[]>) => Promise<EditorVersion>,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const { _r: revision, ...stored } = await this.require(editor, versionId);
      const next = await change(stored, () => this.all(editor));
      if (outlives(next, stored)) await this.#extendParts(editor, next);
      return this.#table.tryWrite([replace(EditorVersionEntity, { ...editor, ...next }, revision)]);
    });
  }

  /** Ids must be distinct. A version that does not exist fails in its own result only. */
  async delete(editor: EditorName, versionIds: readonly string[]): Promise<ItemOutcome[]> {
    const stored = await this.#table.getMany(
      EditorVersionEntity,
      versionIds.map((versionId) => ({ ...editor, versionId })),
    );
    await this.remove(
      editor,
      stored.flatMap((version) => version ?? []),
    );
    return stored.map((version) =>
      version ? { success: true, message: 'Version deleted.' } : { success: false, message: 'Version does not exist.' },
    );
  }

  /** Removes the versions first, and then blobs that no other version has, also of one that was added meanwhile. */
  async remove(editor: EditorName, versions: readonly Stored<EditorVersion>[]): Promise<void> {
    if (versions.length === 0) return;
    await inParallel(versions, PARALLEL, ({ versionId }) =>
      retryOnConflict(async () => {
        const version = await this.find(editor, versionId);
        return version
          ? this.#table.tryWrite([remove(EditorVersionEntity, { ...editor, versionId }, version._r)])
          : 'done';
      }),
    );
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

  async #extendParts(editor: EditorName, { blob, expiresAt }: EditorVersion): Promise<void> {
    for (const key of partsOf(blob)) {
      const part = await this.#table.get(EditorVersionPartEntity, { ...editor, ...key });
      if (!part) throw unknownVersion();
      await this.#table.write([upsert(EditorVersionPartEntity, { ...editor, ...key, bytes: part.bytes, expiresAt })]);
    }
  }
}

/** Whether a version lives longer than another. */
export function outlives(one: Pick<EditorVersion, 'expiresAt'>, other: Pick<EditorVersion, 'expiresAt'>): boolean {
  return (one.expiresAt ?? Infinity) > (other.expiresAt ?? Infinity);
}

function unknownVersion(): ApiError {
  return new ApiError('NOT_FOUND', 'Version does not exist.');
}

export const readVersions = /* @__PURE__ */ storeCapability(VersionStore, ['GetItem', 'BatchGetItem', 'Query']);

export const changeVersions = /* @__PURE__ */ storeCapability(VersionStore, [
  readVersions,
  'PutItem',
  'DeleteItem',
  'BatchWriteItem',
]);
