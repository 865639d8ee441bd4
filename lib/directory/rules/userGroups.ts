export interface GroupCursor {
  readonly after?: string;
  /** A group whose members are listed only in part, and its last listed member. */
  readonly within?: { readonly groupKey: string; readonly after: string };
}

export interface ReadGroup<G, M> {
  readonly group: G;
  readonly internalId: string;
  readonly position: string;
  readonly members: readonly { readonly member: M; readonly position: string }[];
  readonly hasMore: boolean;
}

/** `next` is the position of the next page if this one is full. */
export interface GroupPagePart<G, M> {
  readonly groups: readonly { readonly group: G; readonly members: readonly M[] }[];
  readonly room: number;
  readonly next: GroupCursor | undefined;
}

/**
 * `remainingRoom` counts groups and members together. A page gets at least one group, with one member if it has any. If
 * not all members of a group fit, the next page continues in it.
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

interface MemberPage<R> {
  readonly records: readonly R[];
  readonly next: string | undefined;
}

/** Each key once, with the record that was added last. All pages must start after the same key. */
export function mergePages<R extends { readonly key: string; readonly addedAt: number }>(
  pages: readonly MemberPage<R>[],
  limit: number,
): MemberPage<R> {
  // The group whose page ends first can have more members after that end.
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

/** As DynamoDB compares keys. JavaScript sorts characters beyond U+FFFF differently. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
