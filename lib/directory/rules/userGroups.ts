/** Groups of an organization's users, and pages that list them with their members. */

/** Where a listing of groups with their members goes on. */
export interface GroupCursor {
  /** The group before the one that is next, by its position in the listing; absent at the beginning. */
  readonly after?: string;
  /** The group in the middle of whose members the page ended, by its internal id, and the position of the last one shown. */
  readonly within?: { readonly groupKey: string; readonly after: string };
}

/** A group as a page could show it: where it stands, and as many of its members as were read. */
export interface ReadGroup<G, M> {
  readonly group: G;
  readonly internalId: string;
  readonly position: string;
  readonly members: readonly { readonly member: M; readonly position: string }[];
  /** Whether it has members that were not read. */
  readonly hasMore: boolean;
}

/** A part of a page: groups with the members that fit, how much room is left, and where the listing goes on when the page ends among these groups. */
export interface GroupPagePart<G, M> {
  readonly shown: readonly { readonly group: G; readonly members: readonly M[] }[];
  readonly room: number;
  readonly next: GroupCursor | undefined;
}

/**
 * Takes what fits into a page that has room for so many groups and members together; a page of which nothing `isBegun` takes a group and one of
 * its members at least. A group whose members do not fit ends the page and begins the next one, with the members that follow: nothing is
 * lost or shown twice.
 */
export function fillPage<G, M>(
  groups: readonly ReadGroup<G, M>[],
  roomLeft: number,
  cursor: GroupCursor,
  isBegun: boolean,
): GroupPagePart<G, M> {
  const shown: { group: G; members: M[] }[] = [];
  let [room, before] = [roomLeft, cursor.after];
  for (const { group, internalId, position, members, hasMore } of groups) {
    const least = members.length > 0 ? 2 : 1;
    if (room < least && (isBegun || shown.length > 0)) return { shown, room: 0, next: at(before) };
    const fitting = members.slice(0, Math.max(room - 1, 1));
    shown.push({ group, members: fitting.map(({ member }) => member) });
    room -= 1 + fitting.length;
    const last = fitting.at(-1);
    if (last && (hasMore || fitting.length < members.length))
      return { shown, room: 0, next: { ...at(before), within: { groupKey: internalId, after: last.position } } };
    before = position;
  }
  return { shown, room: Math.max(room, 0), next: undefined };
}

function at(after: string | undefined): GroupCursor {
  return after === undefined ? {} : { after };
}
