import type { Endpoint } from '../../../lib/app/endpoint.ts';
import type { UserRule } from '../../../lib/app/rules/userRule.ts';
import { dataSchema } from '../contract.ts';
import { type Attacker, MENTIONED, ownId, type Place, versionIn } from './world.ts';

export type Data = Record<string, any>;

const isReactions = (path: string) => path.includes('/reactions/');

let newIds = 0;

/**
 * Returns the example of an endpoint as a call of an attacker in a place: with the attacker as author, and with the
 * attacker's own thread, reaction and notification. The call succeeds if the attacker has the role that it needs.
 */
export function inputOf(endpoint: Endpoint, as: Pick<Attacker, 'userId'>, at: Place): Data {
  const { path, user: rule, example } = endpoint;
  const own = ownId(as.userId, at);
  const record = isReactions(path) ? `re-${own}` : own;
  /** The values of fields, by name. A function gets whether the field is inside another one. `undefined` removes it. */
  const values: Readonly<Record<string, (isNested: boolean) => unknown>> = {
    organizationId: () => at.organizationId,
    documentId: () => at.documentId,
    documentIds: () => [at.documentId],
    folderId: () => at.folderId,
    annotationId: (isNested) => (isNested ? `new-${(newIds += 1)}` : record),
    annotationIds: () => [record],
    commentAnnotationId: () => own,
    commentId: () => 1,
    commentIds: () => [1],
    userId: () => as.userId,
    userIds: () => [as.userId],
    from: () => (path.includes('/versions/') ? versionIn(at) : { userId: as.userId }),
    versionId: () => versionIn(at),
    versionIds: () => [versionIn(at)],
    actionUser: () => ({ userId: as.userId }),
    users: () => [{ userId: as.userId, status: 'away' }],
    assignedTo: () => ({ userId: MENTIONED }),
    taggedUserContacts: () => [{ userId: MENTIONED, text: '@Grace' }],
    notifications: () => [{ id: own, readByUserIds: [as.userId] }],
    liveStateDataId: () => 'state',
    liveStateDataIds: () => ['state'],
    editorId: () => 'summary',
    after: () => 0,
    // Without these, the answer contains everything. A reason needs another user's thread.
    ...Object.fromEntries(
      ['statusIds', 'featureTypes', 'version', 'reason', 'pageSize', 'createDocument'].map((name) => [
        name,
        () => undefined,
      ]),
    ),
  };
  const fill = (value: unknown, isNested: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => fill(item, true));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [
        key,
        Object.hasOwn(values, key) ? values[key]!(isNested) : fill(field, true),
      ]),
    );
  };
  return { ...(fill(example.data, false) as Data), ...namedBy(rule, path, at) };
}

/** Returns the fields that name the place, if the rule needs them or the endpoint has them. */
function namedBy(rule: UserRule | undefined, path: string, at: Place): Data {
  const fields = dataSchema(path).properties ?? {};
  const { documentId, folderId } = at;
  if (rule?.on === 'organization') return {};
  if ('documentId' in fields) return { documentId };
  if ('documentIds' in fields) return { documentIds: [documentId] };
  return folderId === undefined ? {} : { folderId };
}

/** Returns the documents and the folder that the rule of an endpoint looks at. */
export function namedIn({ on }: UserRule, data: Data): { documentIds: string[]; folderId: string | undefined } {
  if (on === 'organization') return { documentIds: [], folderId: undefined };
  const documentIds = [data.documentId, ...(on === 'document' ? [] : (data.documentIds ?? []))].filter(
    (id): id is string => typeof id === 'string',
  );
  return { documentIds, folderId: on === 'selection' ? data.folderId : undefined };
}

/**
 * Returns a copy of `data` with a value at a path, as in `comments.*.from`. Missing objects and lists on the path are
 * added. `comments` replaces its alias `commentData`.
 */
export function withValue(data: unknown, [first, ...remaining]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value;
  if (first === '*') {
    const items: unknown[] = Array.isArray(data) && data.length > 0 ? data : [{}];
    return items.map((item) => withValue(item, remaining, value));
  }
  const { commentData, ...others } = (data ?? {}) as Data;
  if (first === 'comments') return { ...others, comments: withValue(others.comments ?? commentData, remaining, value) };
  const object = data as Data | undefined;
  return { ...object, [first]: withValue(object?.[first], remaining, value) };
}

/** The names of fields with ids, and the kind of the record that each names. */
export function kindOfField(path: string, name: string): string | undefined {
  if (/^annotationIds?$/.test(name)) return isReactions(path) ? 'reactions' : 'threads';
  return {
    commentAnnotationId: 'threads',
    commentId: 'comments',
    commentIds: 'comments',
    id: 'notifications',
    notificationIds: 'notifications',
    activityIds: 'activities',
    documentId: 'documents',
    documentIds: 'documents',
    folderId: 'folders',
    organizationId: 'organizations',
  }[name];
}

/** Returns the paths of all fields in data. A list has `*` for each item. */
export function fieldPaths(data: unknown, path: readonly string[] = []): string[][] {
  if (Array.isArray(data)) return data.length > 0 ? fieldPaths(data[0], [...path, '*']) : [];
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([key, value]) => [[...path, key], ...fieldPaths(value, [...path, key])]);
}
