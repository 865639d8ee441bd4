import {
  type AddressedHint,
  type Announced,
  type ContentHint,
  type HintIds,
  type ItemChange,
  type KindHints,
  type KindPushes,
  partitionName,
} from '../../content/rules/hints.ts';
import { decodePart } from '../../shared/keyParts.ts';

/** In place of a hint whose record the user may not read now. */
export const HIDDEN = 'hidden';

/** The last event on a document's channels after a user lost access to the document. */
export const REVOKED = 'system.revoked';

/** The last event on a document's channels after the document got another id. */
export const MIGRATED = 'system.migrated';

/** A hint about a change of an editor. The event also has the update if it is small enough. */
export interface EditorHint {
  readonly type: 'crdt.update';
  readonly at: number;
  readonly editorId: string;
  /** An editor that is deleted and added again under the same id has another key. */
  readonly editorKey: string;
  readonly editorVersion: number;
  readonly by?: string;
}

export type Hint = ContentHint | EditorHint;

export type VersionedHint = Hint & { readonly version: number };

/**
 * Without the id, the sequence number of the stream record, two changes of the same content within a second would have
 * equal hints, and clients would skip the second.
 */
export type UserHint = Hint & { readonly id: string };

export type EmptyHint<H extends UserHint | VersionedHint> = Omit<
  Pick<H, Extract<keyof H, 'at' | 'id' | 'version'>>,
  never
> & {
  readonly type: typeof HIDDEN;
};

export interface HintCatalogue {
  readonly announced: Readonly<Record<string, Announced>>;
  readonly hintedTypes: readonly string[];
  readonly pushedTypes: readonly string[];
  /** By name of the partition from which items are removed. */
  readonly removed: KindHints['removed'];
  hintOf(change: ItemChange): AddressedHint | undefined;
  pushOf(change: ItemChange, now: number): object | undefined;
}

/** Returns the hints and pushes of the kinds, and the hint about the access of the recipient. */
export function hintCatalogue(kinds: readonly { readonly hint: KindHints | KindPushes | 'none' }[]): HintCatalogue {
  const hints = kinds.flatMap(({ hint }) => (hint !== 'none' && 'types' in hint ? [hint] : []));
  const pushes = kinds.flatMap(({ hint }) => (hint !== 'none' && 'push' in hint ? [hint] : []));
  const written = Object.assign({}, ...hints.map((hint) => hint.written)) as KindHints['written'];
  const removed = Object.assign({}, ...hints.map((hint) => hint.removed)) as KindHints['removed'];
  return {
    announced: Object.assign({ 'access.update': 'user' }, ...hints.map(({ types }) => types)) as Record<
      string,
      Announced
    >,
    hintedTypes: Object.keys(written),
    pushedTypes: pushes.map(({ entity }) => entity),
    removed,
    hintOf(change) {
      const { item, key } = change;
      if (item !== undefined) return written[String(item._t)]?.({ ...change, item: item as never });
      const removal = removed[partitionName(key.PK)];
      return key.SK.endsWith(removal?.suffix ?? '') ? removal?.hint(change, key.SK.split('#')) : undefined;
    },
    pushOf: ({ item }, now) => item && pushes.find(({ entity }) => entity === item._t)?.push(item, now),
  };
}

/**
 * Of hints with the same type and ids, the last one stays. An `update` after an `add` of the same ids is left out,
 * because clients read the newest state after either. All hints that hide a thread or comment stay, because each has
 * its own recipients.
 */
export function withoutRepetitions<T extends { readonly hint: ContentHint }>(changes: readonly T[]): T[] {
  const identity = (type: string, ids: HintIds) => JSON.stringify([type, ids]);
  const lastOf = new Map(changes.map(({ hint }, index) => [identity(hint.type, hint.ids), index] as const));
  const addedAt = new Map(
    changes.flatMap(({ hint }, index) =>
      hint.type.endsWith('.add') ? [[identity(hint.type.replace(/add$/, 'update'), hint.ids), index] as const] : [],
    ),
  );
  return changes.filter(({ hint }, index) => {
    const name = identity(hint.type, hint.ids);
    const isRepeated = lastOf.get(name) !== index && !hint.type.endsWith('.hide');
    return !isRepeated && (addedAt.get(name) ?? Infinity) > index;
  });
}

/** Of each type and for each user of a batch. A channel gets one publish of five events in 50 ms. */
const MAX_NAMED = 20;

/** Of many hints of the same type, the last one stays, without ids. `hints` are for one user. */
export function withoutManyIds<T extends { readonly hint: ContentHint }>(hints: readonly T[]): T[] {
  return [...Map.groupBy(hints, ({ hint }) => hint.type).values()].flatMap((same) => {
    const last = same.at(-1);
    const isMany = same.length > MAX_NAMED || same.some(({ hint }) => Object.keys(hint.ids).length === 0);
    return isMany && last ? [{ ...last, hint: { ...last.hint, ids: {} } }] : same;
  });
}

export interface DocumentKeys {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly documentKey: string;
}

/** Returns undefined for a key that is not of a document. */
export function documentOf(PK: string): DocumentKeys | undefined {
  const [scope, tenant, organization, organizationKey, document, documentKey] = PK.split('#');
  if (scope !== 'T' || organization !== 'ORGANIZATION' || document !== 'DOCUMENT') return undefined;
  if (!tenant || !organizationKey || !documentKey) return undefined;
  const decoded = decodePart(tenant);
  return decoded === undefined ? undefined : { tenant: decoded, organizationKey, documentKey };
}
