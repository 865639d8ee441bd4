/** The position from which a listing of groups with their members continues. */
export interface GroupCursor {
  /** The position of the last group that is listed completely. Undefined if there is none. */
  readonly after?: string;
  /** The group whose members are listed only in part: its internal id, and the position of its last listed member. */
  readonly within?: { readonly groupKey: string; readonly after: string };
}

/** A group with those of its members that were read. */
export interface ReadGroup<G, M> {
  readonly group: G;
  readonly internalId: string;
  readonly position: string;
  readonly members: readonly { readonly member: M; readonly position: string }[];
  /** True if the group has more members than were read. */
  readonly hasMore: boolean;
}

/**
 * Groups and members for a page, and the room that remains on the page. If the page is full, `next` is the position of the next
 * page. Otherwise `next` is undefined.
 */
export interface GroupPagePart<G, M> {
  readonly groups: readonly { readonly group: G; readonly members: readonly M[] }[];
  readonly room: number;
  readonly next: GroupCursor | undefined;
}

/**
 * Returns the groups and members that fit a page. `remainingRoom` counts groups and members together. If the page has no group
 * yet (`isBegun` is false), at least one group and one of its members are returned. If a group's members do not fit, the next
 * page continues with its remaining members.
 */
export function fillPage<G, M>(
  readGroups: readonly ReadGroup<G, M>[],
  remainingRoom: number,
  cursor: GroupCursor,
  isBegun: boolean,
): GroupPagePart<G, M> {
  const groups: { group: G; members: M[] }[] = [];
  let [room, before] = [remainingRoom, cursor.after];
  for (const { group, internalId, position, members, hasMore } of readGroups) {
    const least = members.length > 0 ? 2 : 1;
    if (room < least && (isBegun || groups.length > 0)) return { groups, room: 0, next: cursorAfter(before) };
    const fitting = members.slice(0, Math.max(room - 1, 1));
    groups.push({ group, members: fitting.map(({ member }) => member) });
    room -= 1 + fitting.length;
    const last = fitting.at(-1);
    if (last && (hasMore || fitting.length < members.length)) {
      const within = { groupKey: internalId, after: last.position };
      return { groups, room: 0, next: { ...cursorAfter(before), within } };
    }
    before = position;
  }
  return { groups, room: Math.max(room, 0), next: undefined };
}

function cursorAfter(after: string | undefined): GroupCursor {
  return after === undefined ? {} : { after };
}

/** A page of the members of a group, ordered by key. `next` is the key at which the page ends, or undefined on the last page. */
interface MemberPage<R> {
  readonly records: readonly R[];
  readonly next: string | undefined;
}

/**
 * Merges pages of several groups into one page, ordered by key. Each key occurs once, with the record that was added last. All pages
 * must start after the same key. The next merged page starts after `next`.
 */
export function mergePages<R extends { readonly key: string; readonly addedAt: number }>(
  pages: readonly MemberPage<R>[],
  limit: number,
): MemberPage<R> {
  // The group whose page ends first can have more members after that end. They were not read, so the merged page must end there
  // too.
  const [end] = pages.flatMap(({ next }) => next ?? []).sort(byBytes);
  const merged = new Map<string, R>();
  for (const record of pages.flatMap(({ records }) => records)) {
    const isLater = record.addedAt > (merged.get(record.key)?.addedAt ?? -Infinity);
    if (isLater && (end === undefined || byBytes(record.key, end) <= 0)) merged.set(record.key, record);
  }
  const sorted = [...merged.values()].sort((a, b) => byBytes(a.key, b.key));
  const records = sorted.slice(0, limit);
  return { records, next: records.length < sorted.length ? records.at(-1)?.key : end };
}

/** Compares texts by their UTF-8 bytes, as DynamoDB compares keys. JavaScript sorts characters beyond U+FFFF differently. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
