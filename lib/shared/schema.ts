import * as z from 'zod';
import { isLongerThan, jsonBytes } from './bytes.ts';
import { dict, isObject } from './collections.ts';
import { filterOperators, isOrdered, listOperators, orderOperators } from './filterOperators.ts';

/**
 * Returns the schema, or the fields of a schema, that `make` returns. With `@__PURE__` before the call, esbuild leaves the schema out
 * of the bundles that do not use it. Use it in files that functions also import for something other than their schemas. esbuild keeps
 * a schema that zod makes directly, because a call can have side effects.
 */
export function defineSchema<S>(make: () => S): S {
  return make();
}

const names = new WeakMap<z.core.$ZodType, string>();

/**
 * Returns a schema like `defineSchema`. The schema is a component of the OpenAPI document under this name, so a generated client has
 * one type for it. Names are unique.
 */
export function defineNamedSchema<S extends z.core.$ZodType>(name: string, make: () => S): S {
  const schema = make();
  names.set(schema, name);
  return schema;
}

/** Returns the name that a schema has in the OpenAPI document, or undefined if it is no component. */
export function nameOf(schema: z.core.$ZodType): string | undefined {
  return names.get(schema);
}

/** The limits of fields whose content the customer chooses. */
export const limits = {
  idCharacters: 512,
  /** The largest text, in bytes of UTF-8. */
  textBytes: 32 * 1024,
  /** The largest object, in bytes as JSON. */
  objectBytes: 64 * 1024,
  /** The largest number of nested levels in an object. */
  objectDepth: 32,
  /** The largest number of items in a request that changes a list of items. */
  list: 500,
  /** The largest number of ids in one list of a request to `/v2/auth/permissions` or `/v2/notifications/config/set`. */
  permissionIds: 100,
  /** The largest number of values in the access context of one grant. */
  contextItems: 200,
  /** The largest number of ids in one filter of a request that reads. */
  readIds: 30,
  /** The largest number of conditions on metadata in one request. */
  filters: 10,
  /** The largest value of a condition on metadata, in bytes as JSON. */
  filterValueBytes: 4_096,
  pageSize: 1_000,
} as const;

const CONTROL_CHARACTER = /\p{Cc}/u;

function bytesAtMost(limit: number) {
  return z.refine<string>((text) => !isLongerThan(text, limit), { error: `must be at most ${limit} bytes of UTF-8` });
}

const wellFormed = /* @__PURE__ */ defineSchema(() =>
  z.refine<string>((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' }),
);

/** An id that the customer chose: 1 to 512 characters of Unicode without control characters. */
export const Id = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .min(1)
    .max(limits.idCharacters)
    .check(
      wellFormed,
      z.refine((text) => !CONTROL_CHARACTER.test(text), { error: 'must not contain control characters' }),
    )
    .meta({ pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F]+$' }),
);

/** A time in an answer: ISO 8601 in UTC with milliseconds. */
export const IsoTime = /* @__PURE__ */ defineSchema(() =>
  z.string().meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' }),
);

/** A text of at most 32 KB of UTF-8. */
export const Text = /* @__PURE__ */ defineSchema(() => z.string().check(wellFormed, bytesAtMost(limits.textBytes)));

/** A name of 1 to 512 characters. */
export const Name = /* @__PURE__ */ defineSchema(() => z.string().min(1).max(limits.idCharacters).check(wellFormed));

/** A number that the table stores exactly, except that numbers too close to 0 become 0. */
export const StoredNumber = /* @__PURE__ */ defineSchema(() =>
  z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
);

/** Returns the schema of an optional field. `null` means the same as a missing field. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined) as unknown as z.ZodOptional<S>;
}

/**
 * Returns the schema of a list with `least` to `most` items. The schema checks the length first, so a list that is too long costs
 * little.
 */
export function list<S extends z.ZodType>(item: S, most: number, least = 1) {
  return z.array(z.unknown()).min(least).max(most).pipe(z.array(item).min(least).max(most)) as unknown as z.ZodType<
    z.output<S>[],
    z.input<S>[]
  >;
}

function jsonLimits(bytes: number) {
  return [
    z.refine<unknown>((value) => depthAtMost(value, limits.objectDepth), {
      error: `must be nested at most ${limits.objectDepth} levels deep`,
    }),
    jsonBytesAtMost(bytes),
  ] as const;
}

/** Returns the check that a value has at most `bytes` bytes as JSON. */
export function jsonBytesAtMost(bytes: number) {
  return z.refine<unknown>((value) => !isLongerThan(JSON.stringify(value), bytes), {
    error: `must be at most ${bytes} bytes as JSON`,
  });
}

/**
 * Returns the schema of a JSON object of at most `bytes` bytes and 32 levels. It does not copy the value, so a key named
 * `__proto__` stays.
 */
function openObject(bytes: number) {
  return z
    .custom<Record<string, unknown>>(isObject, { error: 'must be an object' })
    .check(...jsonLimits(bytes))
    .meta({ type: 'object' });
}

/** A JSON object of at most 64 KB and 32 levels. */
export const OpenObject = /* @__PURE__ */ defineSchema(() => openObject(limits.objectBytes));

/** Any JSON value of at most 64 KB and 32 levels. The schema does not copy the value. */
export const JsonValue = /* @__PURE__ */ defineSchema(() =>
  z.custom<unknown>((value) => value !== undefined, { error: 'is required' }).check(...jsonLimits(limits.objectBytes)),
);

/** A JSON object in a response. */
export const AnyObject = /* @__PURE__ */ defineSchema(() => z.record(z.string(), z.unknown()));

const declaredKeys = new WeakMap<z.core.$ZodType, z.ZodObject>();
const storedAsSent = new WeakSet<z.core.$ZodType>();

export function isStoredAsSent(schema: z.core.$ZodType): boolean {
  const { parent } = schema._zod;
  return storedAsSent.has(schema) || (parent !== undefined && isStoredAsSent(parent));
}

const furtherFields = new WeakMap<z.core.$ZodType, (name: string) => boolean>();

/** Other objects in requests refuse undeclared fields. */
export function withFurtherFields<S extends z.ZodType>(object: S, accepts: (name: string) => boolean = () => true): S {
  furtherFields.set(object, accepts);
  return object;
}

/** Undefined if the object is not from `withFurtherFields`. */
export function acceptsField(schema: z.core.$ZodType, name: string): boolean | undefined {
  const { parent } = schema._zod;
  return furtherFields.get(schema)?.(name) ?? (parent && acceptsField(parent, name));
}

const serviceFields = new WeakMap<z.core.$ZodType, Readonly<Record<string, z.ZodType>>>();

/**
 * Records fields whose names begin with the name of the service, by the rest of their names. A schema cannot declare them, because
 * it is the same for every deployment.
 */
export function withServiceFields<S extends z.ZodObject>(object: S, fields: Readonly<Record<string, z.ZodType>>): S {
  serviceFields.set(object, fields);
  return object;
}

export function serviceFieldsOf(schema: z.core.$ZodType): Readonly<Record<string, z.ZodType>> {
  return serviceFields.get(schema) ?? {};
}

/** `reason` follows "Ignored:" in the API reference. */
export function ignoredField(reason: string) {
  return z
    .unknown()
    .optional()
    .transform(() => undefined)
    .meta({ description: `Ignored: ${reason}.` });
}

/**
 * Returns the declared fields of a schema from `withOpenKeys` or `unchangedObject`, for the OpenAPI document. The schema may have
 * more checks. Returns undefined for other schemas.
 */
export function declaredKeysOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const { parent } = schema._zod;
  return declaredKeys.get(schema) ?? (parent && declaredKeysOf(parent));
}

/**
 * Returns the schema of an object that has declared fields and any other fields. The parsed value has the other fields in `open`.
 * `bytes` limits the size of all fields together, and `accepts` the names of the other fields. A loose object of zod would lose a key
 * named `__proto__`.
 */
export function withOpenKeys<S extends z.ZodRawShape>(
  shape: S,
  bytes: number = limits.objectBytes,
  accepts: (name: string) => boolean = () => true,
) {
  const declared = z.object(shape);
  const schema = openObject(bytes).transform((raw, context) => {
    const parsed = declared.safeParse(raw, { reportInput: true });
    if (!parsed.success) {
      for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: issue.input } as never);
      return z.NEVER;
    }
    const open = dict(Object.entries(raw).filter(([key]) => !Object.hasOwn(shape, key)));
    return { ...parsed.data, open };
  });
  declaredKeys.set(schema, declared);
  withFurtherFields(schema, accepts);
  return schema as unknown as z.ZodType<z.output<typeof schema>, z.input<typeof declared> & Record<string, unknown>>;
}

/**
 * Returns the schema of a JSON object of at most 64 KB. It checks the declared fields. The parsed value is the same object, so a
 * key named `__proto__` stays.
 */
export function unchangedObject(declared: z.ZodObject): z.ZodType<Readonly<Record<string, unknown>>> {
  const schema = OpenObject.check(({ value, issues }) => {
    // zod also runs this check on a value that is not an object. `OpenObject` has already reported such a value.
    if (!isObject(value)) return;
    for (const issue of declared.safeParse(value, { reportInput: true }).error?.issues ?? [])
      issues.push({ ...issue, input: issue.input } as never);
  });
  declaredKeys.set(schema, declared);
  storedAsSent.add(schema);
  return schema;
}

/** A rule about the named fields of an object. A request must have at least one of them (`anyOf`), or exactly one (`oneOf`). */
export interface FieldRule {
  readonly rule: 'anyOf' | 'oneOf';
  readonly names: readonly string[];
}

const fieldRules = new WeakMap<object, FieldRule>();

/**
 * Returns `check`. Records for the API reference that `check` enforces `rule` on the fields `names`. The reference omits fields
 * that the checked object does not have.
 */
export function withFieldRule<C extends object>(rule: FieldRule['rule'], names: readonly string[], check: C): C {
  fieldRules.set(check, { rule, names });
  return check;
}

/** Returns a check that requires at least one of the named fields. It reports one issue. */
export function requireAnyOf<N extends string>(names: readonly N[], params: { path?: string[]; error: string }) {
  const check = z.refine<{ readonly [K in N]?: unknown }>(
    (sent) => names.some((name) => sent[name] !== undefined),
    params,
  );
  return withFieldRule('anyOf', names, check);
}

/**
 * Returns a check that refuses a partial update without one of `fields`. The first issue has `message`, on which clients depend.
 * Unlike with `requireAnyOf`, each field has an issue too. `isChange` returns whether an update changes something. By default, it
 * needs one of `fields`.
 */
export function requireChange(
  fields: readonly string[],
  message: string,
  isChange = (sent: Readonly<Record<string, unknown>>) => fields.some((field) => sent[field] !== undefined),
) {
  const issue = (path: string[], text: string) =>
    ({ code: 'nothing_to_change', input: undefined, path, message: text }) as never;
  const check = z.check<Record<string, unknown>>(({ value, issues }) => {
    if (isChange(value)) return;
    issues.push(
      issue([], message),
      ...fields.map((field) => issue([field], 'is required when no other field is given')),
    );
  });
  return withFieldRule('anyOf', fields, check);
}

/** Returns the rule that a check enforces, for the API reference. Returns undefined if `withFieldRule` recorded none. */
export function fieldRuleOf(check: object): FieldRule | undefined {
  return fieldRules.get(check);
}

/**
 * The fields of `data` that an endpoint's twin (the same operation in the other version of the API) ignores or requires, unlike the
 * endpoint.
 */
export interface FieldChanges {
  readonly ignored?: readonly string[];
  readonly required?: readonly string[];
}

const changedFields = new WeakMap<z.core.$ZodType, { readonly base: z.ZodType; readonly changes: FieldChanges }>();

/**
 * Returns the base and the changes of a schema from `withFieldChanges`, for the OpenAPI document. Returns undefined for other
 * schemas.
 */
export function fieldChangesOf(schema: z.core.$ZodType) {
  return changedFields.get(schema);
}

/** Returns the schema `base`, changed so that it ignores some fields and requires others. */
export function withFieldChanges<S extends z.ZodType>(
  base: S,
  changes: FieldChanges,
): z.ZodType<z.output<S>, z.input<S>> {
  const { ignored = [], required = [] } = changes;
  const schema = z
    .unknown()
    .transform((raw, context) => {
      if (!isObject(raw)) return raw;
      const fields = dict(Object.entries(raw).filter(([key]) => !ignored.includes(key)));
      for (const key of required) {
        if ((fields[key] ?? undefined) === undefined)
          context.issues.push({
            code: 'invalid_type',
            expected: 'nonoptional',
            input: undefined,
            path: [key],
          } as never);
      }
      return fields;
    })
    .pipe(base as z.ZodType);
  changedFields.set(schema, { base, changes });
  return schema as unknown as z.ZodType<z.output<S>, z.input<S>>;
}

/**
 * Returns whether a JSON value has at most `levels` nested levels. The function does not recurse, so a deeply nested value cannot
 * overflow the stack.
 */
function depthAtMost(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return false;
    level = level.flatMap((node): unknown[] => (typeof node === 'object' && node !== null ? Object.values(node) : []));
  }
  return true;
}

const FilterValue = /* @__PURE__ */ defineSchema(() =>
  JsonValue.check(jsonBytesAtMost(limits.filterValueBytes)).describe(
    'The value to compare with: a list for `in`, `not-in` and `array-contains-any`, otherwise any JSON value.',
  ),
);

/** A condition on the metadata of a document. */
const MetadataFilter = /* @__PURE__ */ defineNamedSchema('MetadataFilter', () =>
  z
    .object({
      key: Name.describe(
        'The name of the metadata field. Dots lead into objects, such as `owner.team`, but not into lists.',
      ),
      operator: z
        .enum(filterOperators)
        .describe('How the field is compared. A document without the field never meets the condition.'),
      value: FilterValue,
    })
    .check(
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
    )
    .describe('A condition on one metadata field of a document.'),
);

/** Conditions on the metadata of documents. A document must meet all of them. */
export const MetadataFilters = /* @__PURE__ */ defineSchema(() =>
  list(MetadataFilter, limits.filters).describe(
    'Conditions on the metadata of documents. A document must meet all of them.',
  ),
);

/** A documented field, or a value of it, that this service refuses. The guide lists all of them. */
export interface Refusal {
  /** The refused values, in words. */
  readonly values: string;
  /** What the error says after the name of the field. */
  readonly message: string;
  /** The name of a field that the schema does not declare. */
  readonly field?: string;
  /** True if the service can accept the field when it records who viewed threads. */
  readonly needsViews?: boolean;
}

const refusals = new WeakMap<z.core.$ZodType, Refusal>();

/** Returns the schema and records that it refuses a documented value. Call it last, because `check` and `meta` copy a schema. */
export function withRefusal<S extends z.core.$ZodType>(schema: S, refusal: Refusal): S {
  refusals.set(schema, refusal);
  return schema;
}

/** Returns what `withRefusal` recorded for a schema. */
export function refusalOf(schema: z.core.$ZodType): Refusal | undefined {
  return refusals.get(schema);
}

/** Returns the schema of a field that this service does not support. It refuses every value except `null`. */
export function unsupportedField(error: string) {
  const schema = z.custom<undefined>(() => false, { error }).meta({ type: 'null', description: error });
  return optional(withRefusal(schema, { values: 'any', message: error }));
}

/**
 * The field `context` of a request that adds or removes users. It is meant for the webhook that reports such changes. This service
 * has no such webhook, so it refuses the field.
 */
export const userContext = /* @__PURE__ */ defineSchema(() =>
  unsupportedField('must be left out: no webhook and no resolver of this service reports added or removed users'),
);

const profileTexts = {
  name: 'The full name that other users see.',
  email: 'The address to which mails for the user go, if it can receive mail.',
  photoUrl: 'The URL of the picture of the user.',
  color: 'The colour of the avatar, as your client writes it.',
  textColor: 'The colour of the text on the avatar, as your client writes it.',
  initial: 'The letters on the avatar. Of a stored profile, by default the first letter of the name.',
  type: 'A word of your own for the kind of user. The service gives it no meaning.',
  plan: 'A word of your own for what the user has bought. The service gives it no meaning.',
} as const;

/** The profile of a user. */
export const UserProfile = /* @__PURE__ */ defineSchema(() =>
  z.object({
    name: optional(Name).describe(profileTexts.name),
    email: optional(Name).describe(profileTexts.email),
    photoUrl: optional(z.string().max(2_048).check(wellFormed)).describe(profileTexts.photoUrl),
    color: optional(Name).describe(profileTexts.color),
    textColor: optional(Name).describe(profileTexts.textColor),
    initial: optional(Name).describe(profileTexts.initial),
    type: optional(Name).describe(profileTexts.type),
    plan: optional(Name).describe(profileTexts.plan),
  }),
);

/** The fields of a user's profile as they are stored. */
export const StoredProfile = /* @__PURE__ */ defineSchema(() =>
  z.object({
    name: z.string().optional().describe(profileTexts.name),
    email: z.string().optional().describe(profileTexts.email),
    photoUrl: z.string().optional().describe(profileTexts.photoUrl),
    color: z.string().optional().describe(profileTexts.color),
    textColor: z.string().optional().describe(profileTexts.textColor),
    initial: z.string().optional().describe(profileTexts.initial),
    type: z.string().optional().describe(profileTexts.type),
    plan: z.string().optional().describe(profileTexts.plan),
  }),
);

/** Refuses `documentId` together with `folderId`. */
export const documentOrFolder = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ documentId?: string | undefined; folderId?: string | undefined }>(
    ({ documentId, folderId }) => documentId === undefined || folderId === undefined,
    { path: ['folderId'], error: 'must not be given together with documentId' },
  ),
);

/** Returns a check that refuses the field `name` together with any of the fields `others`. `false` counts as a missing field. */
export function notTogether(name: string, ...others: readonly string[]) {
  const isSent = (input: Record<string, unknown>, field: string) =>
    input[field] !== undefined && input[field] !== false;
  return z.refine<Record<string, unknown>>(
    (input) => !isSent(input, name) || !others.some((other) => isSent(input, other)),
    { path: [name], error: `must not be given together with ${others.join(', ')}` },
  );
}

/** An access context in a request: a value or a list of values per field, at most 200 values in all. */
export const AccessContext = /* @__PURE__ */ defineSchema(
  () =>
    OpenObject.check(
      z.refine((access) => Object.values(access).every((values) => [values].flat().every(isContextValue)), {
        error: 'must map each field to a string, a number or a list of them',
      }),
      z.refine((access) => Object.values(access).flat().length <= limits.contextItems, {
        error: `must have at most ${limits.contextItems} values in all`,
      }),
      z.refine((access) => contextBytes(access) <= limits.objectBytes, {
        error: `must be at most ${limits.objectBytes} bytes as JSON with the name of its field before each value`,
      }),
    ) as unknown as z.ZodType<Record<string, string | number | (string | number)[]>>,
);

/** Returns the size as JSON of the texts `field:value` of an access context. They repeat the name of a field for each of its values. */
function contextBytes(access: Record<string, unknown>): number {
  return Object.entries(access).reduce((sum, [field, sent]) => {
    const values = [sent].flat();
    return sum + values.length * jsonBytes(field) + jsonBytes(values);
  }, 0);
}

function isContextValue(value: unknown): boolean {
  return (typeof value === 'string' && value.isWellFormed()) || typeof value === 'number';
}

/** A time in epoch seconds. */
export const UnixSeconds = /* @__PURE__ */ defineSchema(() =>
  z
    .int()
    .min(0)
    .max(99_999_999_999)
    .describe(
      'When the grant ends, in Unix seconds (not milliseconds). It must be in the future. Without it, the grant does not end.',
    ),
);

export const PageSize = /* @__PURE__ */ defineSchema(() => z.int().min(1).max(limits.pageSize));
export const PageToken = /* @__PURE__ */ defineSchema(() => z.string().min(1).max(8_192));
/** The field `pageToken` of an answer. */
export const NextToken = /* @__PURE__ */ defineSchema(() =>
  z.string().nullable().describe('Continues the listing as `pageToken`. Null after the last page.'),
);

/**
 * Returns the schema of a request for a listing in pages, or for the items whose ids are in the field `ids`. Those items are on one
 * page, so a page token is refused.
 */
export function pagesOrIds<S extends z.ZodRawShape>(ids: keyof S & string, shape: S) {
  return z
    .object({ ...shape, pageSize: optional(PageSize), pageToken: optional(PageToken) })
    .check(notTogether('pageToken', ids));
}
