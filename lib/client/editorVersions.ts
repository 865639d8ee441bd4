import { fromBase64 } from 'lib0/buffer';
import * as Y from 'yjs';
import type { DocumentName } from './liveDocument.ts';
import type { CallOptions } from './types.ts';

export type Call<D, R> = (data: D, options?: CallOptions) => Promise<{ readonly data: R }>;
type EditorName = DocumentName & { editorId: string };
type VersionName = EditorName & { versionId: string };

export interface EditorVersion {
  readonly versionId: string;
  readonly createdAt: string;
  readonly name?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly authors: readonly string[];
  readonly isAutomatic: boolean;
  /** Only of a version that a restore made from the state before it. */
  readonly restoredVersionId?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly bytes: number;
}

export interface VersionPage {
  readonly versions: readonly EditorVersion[];
  readonly nextPageToken: string | null;
}

export interface VersionPreview {
  readonly version: EditorVersion;
  readonly value: unknown;
  /** Has no connection: edits of it go nowhere. */
  readonly doc: Y.Doc;
}

/** Applied in their order to the older value, `operations` or `changes` give the newer value. */
export interface VersionDifferences {
  readonly operations?: readonly TextOperation[] | undefined;
  readonly changes?:
    | readonly { readonly path: readonly (string | number)[]; readonly from?: unknown; readonly to?: unknown }[]
    | undefined;
  readonly truncated?: true | undefined;
}

export interface TextOperation {
  readonly at: number;
  readonly delete: number;
  readonly insert: string;
}

interface VersionRequest {
  name?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

interface ListRequest {
  named?: true | undefined;
  pageSize?: number | undefined;
  pageToken?: string | undefined;
}

export interface AddedVersion {
  readonly versionId: string;
  readonly createdAt: string;
  readonly authors: readonly string[];
}

export interface RestoredVersion {
  readonly restoredVersionId: string;
  /** The version with the state before. Null if the editor had the value already. */
  readonly keptVersionId: string | null;
}

export interface VersionMethods {
  readonly add: Call<EditorName & VersionRequest, AddedVersion>;
  readonly get: Call<
    EditorName & ListRequest & { versionId?: string; includeState?: boolean },
    {
      readonly versions?: readonly EditorVersion[] | undefined;
      readonly nextPageToken?: string | null | undefined;
      readonly version?: EditorVersion | undefined;
      readonly data?: unknown;
      readonly state?: string | undefined;
    }
  >;
  readonly update: Call<VersionName & VersionRequest, unknown>;
  readonly delete: Call<EditorName & { versionIds: string[] }, Readonly<Record<string, VersionOutcome>>>;
  readonly compare: Call<EditorName & { from: string; to?: string | undefined }, VersionDifferences>;
  readonly restore: Call<VersionName & { sessionId?: string }, RestoredVersion>;
}

export interface VersionOutcome {
  readonly success: boolean;
  readonly message: string;
}

/** All methods need the role editor. They throw ServiceError, or the abort reason of their `signal`. */
export interface EditorVersions {
  /** The newest first. `pages(provider.versions.list, {})` yields every page. */
  readonly list: (request?: ListRequest, options?: CallOptions) => Promise<VersionPage>;
  /** Sends unsent edits first. A version without a name ends by age. */
  readonly add: (request?: VersionRequest, options?: CallOptions) => Promise<AddedVersion>;
  readonly preview: (versionId: string, options?: CallOptions) => Promise<VersionPreview>;
  readonly compare: (from: string, to?: string, options?: CallOptions) => Promise<VersionDifferences>;
  /**
   * Sends unsent edits first, so that the version "Before restore" has them. If they cannot be sent, throws their error
   * and restores nothing. The restored value reaches the Yjs document like an edit of another user.
   */
  readonly restore: (versionId: string, options?: CallOptions) => Promise<RestoredVersion>;
  readonly rename: (versionId: string, name: string, options?: CallOptions) => Promise<void>;
  readonly delete: (
    versionIds: readonly string[],
    options?: CallOptions,
  ) => Promise<Readonly<Record<string, VersionOutcome>>>;
}

interface VersionPorts {
  readonly methods: VersionMethods;
  readonly editor: EditorName;
  readonly sessionId: string;
  readonly send: () => Promise<void>;
}

export function editorVersions({ methods, editor, sessionId, send }: VersionPorts): EditorVersions {
  return {
    list: async (request = {}, options) => {
      const { data } = await methods.get({ ...editor, ...request }, options);
      return { versions: data.versions ?? [], nextPageToken: data.nextPageToken ?? null };
    },
    add: async (request = {}, options) => {
      await send();
      return (await methods.add({ ...editor, ...request }, options)).data;
    },
    preview: async (versionId, options) => {
      const { data } = await methods.get({ ...editor, versionId, includeState: true }, options);
      const { version, state } = data as { version: EditorVersion; state: string };
      // One answer has no room for a large value and its state.
      const { data: value } = 'data' in data ? data : (await methods.get({ ...editor, versionId }, options)).data;
      const doc = new Y.Doc();
      Y.applyUpdate(doc, fromBase64(state));
      return { version, value, doc };
    },
    compare: async (from, to, options) => (await methods.compare({ ...editor, from, to }, options)).data,
    restore: async (versionId, options) => {
      await send();
      return (await methods.restore({ ...editor, versionId, sessionId }, options)).data;
    },
    rename: async (versionId, name, options) => {
      await methods.update({ ...editor, versionId, name }, options);
    },
    delete: async (versionIds, options) =>
      (await methods.delete({ ...editor, versionIds: [...versionIds] }, options)).data,
  };
}
