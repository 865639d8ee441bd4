import { type EventPayload, MAX_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct, isObject } from '../../shared/collections.ts';
import { completeUser, isIncomplete, type NamedUser, type ProfileResponse } from './contentUser.ts';

const MAX_COMPLETED_USERS = 50;

type Json = Readonly<Record<string, unknown>>;

/** Changes the actor, the assignee, and the authors of the event's record, the thread and its comments. */
function mapActors(data: Json, change: (user: NamedUser & { readonly userId: string }) => unknown): Json {
  const user = (value: unknown) =>
    isObject(value) && typeof value.userId === 'string' ? change({ ...value, userId: value.userId }) : value;
  const authored = (value: unknown): unknown =>
    isObject(value) && 'from' in value ? { ...value, from: user(value.from) } : value;
  const thread = (value: unknown) => {
    const own = authored(value);
    if (!isObject(own)) return own;
    return {
      ...own,
      ...('assignedTo' in own && { assignedTo: user(own.assignedTo) }),
      ...(Array.isArray(own.comments) && { comments: own.comments.map(authored) }),
    };
  };
  return {
    ...data,
    ...('actionUser' in data && { actionUser: user(data.actionUser) }),
    ...('from' in data && { from: user(data.from) }),
    ...('commentAnnotation' in data && { commentAnnotation: thread(data.commentAnnotation) }),
    ...('targetComment' in data && { targetComment: authored(data.targetComment) }),
  };
}

export function incompleteActors({ data }: EventPayload): string[] {
  const userIds: string[] = [];
  mapActors(data, (user) => void (isIncomplete(user) && userIds.push(user.userId)));
  return distinct(userIds).slice(0, MAX_COMPLETED_USERS);
}

/** Returns the payload unchanged if it would become larger than 256 KB. */
export function completeActors(payload: EventPayload, profiles: ReadonlyMap<string, ProfileResponse>): EventPayload {
  if (profiles.size === 0) return payload;
  const data = mapActors(payload.data, (user) => completeUser(user, profiles.get(user.userId)));
  return isLongerThan(JSON.stringify(data), MAX_PAYLOAD_BYTES) ? payload : { ...payload, data };
}
