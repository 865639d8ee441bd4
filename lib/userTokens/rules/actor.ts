import { isObject } from '../../shared/schema.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ActorField } from './userRule.ts';

/** The acting user: the user of the token. */
export interface Actor {
  readonly userId: string;
  /** The stored profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
}

/**
 * Returns `data` with the acting user in each field. A missing field becomes the acting user, unless it has
 * `keepMissing`. Throws PERMISSION_DENIED if a field names another user. Other values stay for the schema to reject.
 */
export function fillActor(data: unknown, fields: readonly ActorField[], actor: Actor): unknown {
  return fields.reduce<unknown>(
    (filled, field) => changeAt(filled, field.path.split('.'), (value) => actorIn(value, field, actor)),
    data,
  );
}

/**
 * Returns `input` with the stored profile in each field that holds a user, so that a browser cannot write under the
 * name of someone else.
 */
export function completeActor(input: unknown, fields: readonly ActorField[], actor: Actor): unknown {
  const { userId, profile } = actor;
  const complete = {
    user: (value: unknown) => (isObject(value) ? { userId, ...profile } : value),
    // A list of users keeps the other fields of each user, such as a status.
    users: (value: unknown) =>
      Array.isArray(value)
        ? value.map((user: object) => ({ ...user, name: profile?.name, email: profile?.email }))
        : value,
  };
  return fields.reduce<unknown>(
    (completed, { path, holds }) =>
      holds === 'user' || holds === 'users' ? changeAt(completed, path.split('.'), complete[holds]) : completed,
    input,
  );
}

/** Throws PERMISSION_DENIED if a request has one of these fields with another value than `false`. */
export function requireAbsent(data: unknown, fields: readonly string[]): void {
  for (const path of fields)
    changeAt(data, path.split('.'), (value) => {
      if (value === undefined || value === null || value === false) return value;
      throw new ApiError('PERMISSION_DENIED', `${path} is for API keys: a user token cannot send it.`);
    });
}

function actorIn(value: unknown, { path, holds, keepMissing }: ActorField, { userId }: Actor): unknown {
  if (value === undefined || value === null) {
    if (keepMissing) return value;
    if (holds === 'user') return { userId };
    if (holds === 'users') return [{ userId }];
    return holds === 'userIds' ? [userId] : userId;
  }
  const refuse = () => new ApiError('PERMISSION_DENIED', `${path} names another user than the user token.`);
  if (holds === 'userId') {
    if (typeof value === 'string' && value !== userId) throw refuse();
    return value;
  }
  if (holds === 'userIds') {
    if (Array.isArray(value) && value.some((id) => typeof id === 'string' && id !== userId)) throw refuse();
    return value;
  }
  if (holds === 'users')
    return Array.isArray(value)
      ? value.map((user: unknown) => actorIn(user ?? {}, { path, holds: 'user' }, { userId }))
      : value;
  if (!isObject(value)) return value;
  if (value.userId === undefined || value.userId === null) return { ...value, userId };
  if (typeof value.userId === 'string' && value.userId !== userId) throw refuse();
  return value;
}

/** Returns a copy of a value in which `change` has replaced the fields at `path`. Missing objects on the path stay missing. */
function changeAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [first, ...remaining] = path;
  if (first === undefined) return change(value);
  if (first === '*')
    return Array.isArray(value) ? value.map((item: unknown) => changeAt(item, remaining, change)) : value;
  if (!isObject(value)) return value;
  const field = Object.hasOwn(value, first) ? value[first] : undefined;
  const changed = changeAt(field, remaining, change);
  return changed === field ? value : { ...value, [first]: changed };
}
