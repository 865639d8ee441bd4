import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { completeUser, isIncomplete, type NamedUser, type ProfileResponse } from '../../content/rules/user.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from './payload.ts';

/** How many users of one event are completed. */
const MOST_COMPLETED = 50;

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy of event data in which `change` was applied to the actor and to the authors of the thread and of its comments. */
function mapActors(data: Json, change: (user: NamedUser & { readonly userId: string }) => unknown): Json {
  const user = (value: unknown) =>
    isObject(value) && typeof value.userId === 'string' ? change({ ...value, userId: value.userId }) : value;
  const authored = (value: unknown): unknown =>
    isObject(value) && 'from' in value ? { ...value, from: user(value.from) } : value;
  const thread = (value: unknown) => {
    const own = authored(value);
    return isObject(own) && Array.isArray(own.comments) ? { ...own, comments: own.comments.map(authored) } : own;
  };
  return {
    ...data,
    ...('actionUser' in data && { actionUser: user(data.actionUser) }),
    ...('from' in data && { from: user(data.from) }),
    ...('commentAnnotation' in data && { commentAnnotation: thread(data.commentAnnotation) }),
    ...('targetComment' in data && { targetComment: authored(data.targetComment) }),
  };
}

/** The ids of the actor and authors that an event names without a name or e-mail address. None of an event that was reduced to ids. */
export function incompleteActors({ data }: EventPayload): string[] {
  const userIds: string[] = [];
  if (data.truncated !== true) mapActors(data, (user) => void (isIncomplete(user) && userIds.push(user.userId)));
  return distinct(userIds).slice(0, MOST_COMPLETED);
}

/**
 * An event whose actor and authors are completed from stored profiles, by user id. Fields that the call sent win. The event stays as it is when it would
 * become larger than a payload may be.
 */
export function withActors(payload: EventPayload, profiles: ReadonlyMap<string, ProfileResponse>): EventPayload {
  if (profiles.size === 0) return payload;
  const data = mapActors(payload.data, (user) => completeUser(user, profiles.get(user.userId)));
  return isLongerThan(JSON.stringify(data), LARGEST_PAYLOAD_BYTES) ? payload : { ...payload, data };
}
