import type { ActorField } from '../../app/rules/userRule.ts';
import { isObject } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';

export interface Actor {
  readonly userId: string;
  readonly profile?: Readonly<Record<string, unknown>>;
}

/**
 * A field with `keepMissing` is filled only if it exists. Throws PERMISSION_DENIED if a field names another user. A
 * value of the wrong type stays, because the schema rejects it.
 */
export function fillActor(data: unknown, fields: readonly ActorField[], actor: Actor): unknown {
  return fields.reduce<unknown>(
    (filled, field) => changeAt(filled, field.path.split('.'), (value) => actorIn(value, field, actor)),
    data,
  );
}

/** The stored profile replaces what the browser sent, which could name someone else. */
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

/** Throws PERMISSION_DENIED if a field is present, unless it is `false` or null. */
export function requireAbsent(data: unknown, fields: readonly string[]): void {
  for (const path of fields)
    changeAt(data, path.split('.'), (value) => {
      if (value === undefined || value === null || value === false) return value;
      throw new ApiError('PERMISSION_DENIED', `${path} is for API keys: a user token cannot send it.`);
    });
}

export function omitFields(data: unknown, fields: readonly string[]): unknown {
  return fields.reduce((omitted, path) => changeAt(omitted, path.split('.'), () => undefined), data);
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

export type DataPath = readonly (string | number)[];

/**
 * Returns the changed value, and never writes to `value` itself. If an object on the path is missing, nothing is added.
 * `change` gets the value and its position in the whole data (`at`).
 */
export function changeAt(
  value: unknown,
  path: readonly string[],
  change: (value: unknown, at: DataPath) => unknown,
  at: DataPath = [],
): unknown {
  const [first, ...remaining] = path;
  if (first === undefined) return change(value, at);
  if (first === '*')
    return Array.isArray(value)
      ? value.map((item: unknown, index) => changeAt(item, remaining, change, [...at, index]))
      : value;
  if (!isObject(value)) return value;
  const field = Object.hasOwn(value, first) ? value[first] : undefined;
  const changed = changeAt(field, remaining, change, [...at, first]);
  return changed === field ? value : { ...value, [first]: changed };
}
