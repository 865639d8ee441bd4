import * as z from 'zod';
import { isLongerThan } from './bytes.ts';
import { dict } from './collections.ts';
import { filterOperators, isOrdered, listOperators, orderOperators } from '../directory/rules/documentFilters.ts';

/** The limits of free fields (UTF-8 bytes) and of lists (items). */
export const limits = {
  idCharacters: 512,
  textBytes: 32 * 1024,
  objectBytes: 64 * 1024,
  objectDepth: 32,
  /** Items in one list call. */
  list: 500,
  /** Ids in one permission call. */
  permissionIds: 100,
  /** Values in the access context of one grant. */
  contextItems: 200,
  /** Ids in a read by id. */
  readIds: 30,
  /** Conditions on metadata in one call, and the bytes of the value of each. */
  filters: 10,
  filterValueBytes: 4_096,
  pageSize: 1_000,
} as const;

const CONTROL_CHARACTER = /\p{Cc}/u;

function bytesAtMost(limit: number) {
  return z.refine<string>((text) => !isLongerThan(text, limit), { error: `must be at most ${limit} bytes of UTF-8` });
}

const wellFormed = z.refine<string>((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' });

/** An id that the customer chose: 1 to 512 characters of Unicode without control characters. */
export const Id = z
  .string()
  .min(1)
  .max(limits.idCharacters)
  .check(
    wellFormed,
    z.refine((text) => !CONTROL_CHARACTER.test(text), { error: 'must not contain control characters' }),
  )
  .meta({ pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F]+$' });

/** A time in an answer, ISO 8601 in UTC with milliseconds. */
export const IsoTime = z.string().meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });

/** A free text of at most 32 KB. */
export const Text = z.string().check(wellFormed, bytesAtMost(limits.textBytes));

/** A one-line name: a free text of at most 512 characters. */
export const Name = z.string().min(1).max(limits.idCharacters).check(wellFormed);

/** `null` for an optional field is the same as leaving it out. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined) as unknown as z.ZodOptional<S>;
}

/** A list of `least` to `most` items. The length is checked before the items, so that a long list costs little. */
export function list<S extends z.ZodType>(item: S, most: number, least = 1) {
  return z.array(z.unknown()).min(least).max(most).pipe(z.array(item).min(least).max(most)) as unknown as z.ZodType<
    z.output<S>[],
    z.input<S>[]
  >;
}

/**
 * The `data` of a deletion, or of an update that selects what it changes. An unknown field is INVALID_ARGUMENT,
 * because ignoring a misspelt selector would delete or change too much.
 */
export function closedObject<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape);
}

function jsonLimits(bytes: number) {
  return [
    z.refine<unknown>((value) => depthAtMost(value, limits.objectDepth), {
      error: `must be nested at most ${limits.objectDepth} levels deep`,
    }),
    z.refine<unknown>((value) => !isLongerThan(JSON.stringify(value), bytes), {
      error: `must be at most ${bytes} bytes as JSON`,
    }),
  ] as const;
}

/** A JSON object of at most `bytes` bytes and 32 levels. The value is not copied, so `__proto__` keys are kept. */
export function openObject(bytes: number) {
  return z
    .custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
      error: 'must be an object',
    })
    .check(...jsonLimits(bytes))
    .meta({ type: 'object' });
}

/** A JSON object of at most 64 KB and 32 levels, see `openObject`. */
export const OpenObject = openObject(limits.objectBytes);

/** Any JSON value of at most 64 KB and 32 levels. The value is not copied. */
export const JsonValue = z.custom<unknown>((value) => value !== undefined).check(...jsonLimits(limits.objectBytes));

/** Returns whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const declaredKeys = new WeakMap<z.ZodType, z.ZodObject>();

/** Returns the declared fields of a schema made by `withOpenKeys` or `unchangedObject`, for the OpenAPI document. */
export function declaredKeysOf(schema: z.ZodType): z.ZodObject | undefined {
  return declaredKeys.get(schema);
}

/**
 * An object with declared fields and free ones. The free fields are returned as `open`. `bytes` limits all fields
 * together. Loose objects of zod lose a key named `__proto__`.
 */
export function withOpenKeys<S extends z.ZodRawShape>(shape: S, bytes: number = limits.objectBytes) {
  const known = z.object(shape);
  const schema = openObject(bytes).transform((raw, context) => {
    const parsed = known.safeParse(raw, { reportInput: true });
    if (!parsed.success) {
      for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: issue.input } as never);
      return z.NEVER;
    }
    const open = dict(Object.entries(raw).filter(([key]) => !Object.hasOwn(shape, key)));
    return { ...parsed.data, open };
  });
  declaredKeys.set(schema, known);
  return schema as unknown as z.ZodType<z.output<typeof schema>, z.input<typeof known> & Record<string, unknown>>;
}

/**
 * A JSON object of at most 64 KB whose declared fields are checked. The value is returned unchanged, with `__proto__`
 * keys.
 */
export function unchangedObject(known: z.ZodObject): z.ZodType<Readonly<Record<string, unknown>>> {
  const schema = OpenObject.check(({ value, issues }) => {
    // The check also runs on a value that is not an object.
    if (!isObject(value)) return;
    for (const issue of known.safeParse(value, { reportInput: true }).error?.issues ?? [])
      issues.push({ ...issue, input: issue.input } as never);
  });
  declaredKeys.set(schema, known);
  return schema;
}

/** A rule about the fields of an object: at least one (`anyOf`) or exactly one (`oneOf`) must be sent. */
export interface FieldRule {
  readonly rule: 'anyOf' | 'oneOf';
  readonly names: readonly string[];
}

const fieldRules = new WeakMap<object, FieldRule>();

/** Adds the rule of a check to the reference. Fields that an object does not have are left out there. */
export function withFieldRule<C extends object>(rule: FieldRule['rule'], names: readonly string[], check: C): C {
  fieldRules.set(check, { rule, names });
  return check;
}

/** Returns the rules of the checks of a schema, for the reference. */
export function fieldRulesOf(schema: z.core.$ZodType): FieldRule[] {
  return (schema._zod.def.checks ?? []).flatMap((check) => fieldRules.get(check) ?? []);
}

/** Top-level fields that a twin ignores or requires, unlike its endpoint. */
export interface FieldChanges {
  readonly ignored?: readonly string[];
  readonly required?: readonly string[];
}

const changedFields = new WeakMap<z.core.$ZodType, { readonly base: z.ZodType; readonly changes: FieldChanges }>();

/** Returns the base and the changes of a schema made by `withFieldChanges`, for the OpenAPI document. */
export function fieldChangesOf(schema: z.core.$ZodType) {
  return changedFields.get(schema);
}

/** Returns a schema like `base` that ignores some fields and requires others. */
export function withFieldChanges<S extends z.ZodType>(
  base: S,
  changes: FieldChanges,
): z.ZodType<z.output<S>, z.input<S>> {
  const { ignored = [], required = [] } = changes;
  const schema = z
    .unknown()
    .transform((raw, context) => {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
      const kept = dict(Object.entries(raw).filter(([key]) => !ignored.includes(key)));
      for (const key of required) {
        if ((kept[key] ?? undefined) === undefined)
          context.issues.push({
            code: 'invalid_type',
            expected: 'nonoptional',
            input: undefined,
            path: [key],
          } as never);
      }
      return kept;
    })
    .pipe(base as z.ZodType);
  changedFields.set(schema, { base, changes });
  return schema as unknown as z.ZodType<z.output<S>, z.input<S>>;
}

/**
 * Returns whether a JSON value is nested at most `levels` deep. Does not recurse, so a deep value cannot overflow the
 * stack.
 */
export function depthAtMost(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return false;
    level = level.flatMap((one): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return true;
}

const FilterValue = JsonValue.check(
  z.refine((value) => !isLongerThan((JSON.stringify(value) as string | undefined) ?? '', limits.filterValueBytes), {
    error: `must be at most ${limits.filterValueBytes} bytes as JSON`,
  }),
).meta({ description: 'Any JSON value' });

/** Conditions on metadata. A document must meet all of them. */
export const MetadataFilters = list(
  z.object({ key: Name, operator: z.enum(filterOperators), value: FilterValue }).check(
    z.refine(
      ({ operator, value }) =>
        !listOperators.includes(operator) ||
        (Array.isArray(value) && value.length >= 1 && value.length <= limits.readIds),
      {
        path: ['value'],
        error: `must be a list of 1 to ${limits.readIds} values with the operators ${listOperators.join(', ')}`,
      },
    ),
    z.refine(({ operator, value }) => !orderOperators.includes(operator) || isOrdered(value), {
      path: ['value'],
      error: `must be a string, a number or a boolean with the operators ${orderOperators.join(', ')}`,
    }),
  ),
  limits.filters,
);

/** A field that this service does not support: any value except `null` is refused. */
export function unsupportedField(error: string) {
  return optional(z.custom<undefined>(() => false, { error }).meta({ type: 'null', description: error }));
}

/** The context of added and removed users. No webhook of this service reports it. */
export const userContext = unsupportedField(
  'must be left out: no webhook and no resolver of this service reports added or removed users',
);

/** The profile of a user. */
export const UserProfile = z.object({
  name: optional(Name),
  email: optional(Name),
  photoUrl: optional(z.string().max(2_048).check(wellFormed)),
  color: optional(Name),
  textColor: optional(Name),
  initial: optional(Name),
  type: optional(Name),
  plan: optional(Name),
});

/** The profile fields of a user as they are stored. */
export const StoredProfile = z.object({
  name: z.string().optional(),
  email: z.string().optional(),
  photoUrl: z.string().optional(),
  color: z.string().optional(),
  textColor: z.string().optional(),
  initial: z.string().optional(),
  type: z.string().optional(),
  plan: z.string().optional(),
});

/** Refuses a call that names a document and a folder. */
export const documentOrFolder = z.refine<{ documentId?: string | undefined; folderId?: string | undefined }>(
  ({ documentId, folderId }) => documentId === undefined || folderId === undefined,
  { path: ['folderId'], error: 'must not be given together with documentId' },
);

/** Refuses `one` together with any of the others. `false` counts as left out. */
export function notTogether(one: string, ...others: readonly string[]) {
  const isGiven = (input: Record<string, unknown>, name: string) => input[name] !== undefined && input[name] !== false;
  return z.refine<Record<string, unknown>>(
    (input) => !isGiven(input, one) || !others.some((other) => isGiven(input, other)),
    { path: [one], error: `must not be given together with ${others.join(', ')}` },
  );
}

/** An access context: one or more values per field, at most 200 in all. */
export const AccessContext = OpenObject.check(
  z.refine((access) => Object.values(access).every((values) => [values].flat().every(isContextValue)), {
    error: 'must map each field to a string, a number or a list of them',
  }),
  z.refine((access) => Object.values(access).flat().length <= limits.contextItems, {
    error: `must have at most ${limits.contextItems} values in all`,
  }),
) as unknown as z.ZodType<Record<string, string | number | (string | number)[]>>;

function isContextValue(value: unknown): boolean {
  return (typeof value === 'string' && value.isWellFormed()) || typeof value === 'number';
}

/** Unix time in seconds. */
export const UnixSeconds = z.int().min(0).max(99_999_999_999);

export const PageSize = z.int().min(1).max(limits.pageSize);
export const PageToken = z.string().min(1).max(4_096);
