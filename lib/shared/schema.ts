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

/** The schema is a component of the OpenAPI document, so a generated client has one type for it. Names are unique. */
export function defineNamedSchema<S extends z.core.$ZodType>(name: string, make: () => S): S {
  const schema = make();
  names.set(schema, name);
  return schema;
}

export function nameOf(schema: z.core.$ZodType): string | undefined {
  return names.get(schema);
}

export const limits = {
  idCharacters: 512,
  textBytes: 32 * 1024,
  objectBytes: 64 * 1024,
  objectDepth: 32,
  list: 500,
  /** The limit holds for one list of ids or grants of `/v2/auth` and `/v2/notifications/config/set`. */
  permissionIds: 100,
  contextItems: 200,
  /** The limit holds for one filter of a request that reads, and some lists of ids in writes. */
  readIds: 30,
  filters: 10,
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

/** A customer chooses the id: 1 to 512 characters of Unicode without control characters. */
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

export const IsoTime = /* @__PURE__ */ defineSchema(() =>
  z.string().meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' }),
);

export const Text = /* @__PURE__ */ defineSchema(() => z.string().check(wellFormed, bytesAtMost(limits.textBytes)));

export const Name = /* @__PURE__ */ defineSchema(() => z.string().min(1).max(limits.idCharacters).check(wellFormed));

/** The table stores such a number exactly, except that numbers too close to 0 become 0. */
export const StoredNumber = /* @__PURE__ */ defineSchema(() =>
  z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
);

/** `null` means the same as a missing field. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined) as unknown as z.ZodOptional<S>;
}

/** The schema checks the length first, so a list that is too long costs little. */
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

export function jsonBytesAtMost(bytes: number) {
  return z.refine<unknown>((value) => !isLongerThan(JSON.stringify(value), bytes), {
    error: `must be at most ${bytes} bytes as JSON`,
  });
}

/** The error of a custom schema for a missing value, and for any other value that it refuses. */
export const requiredOr =
  (error: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? 'is required' : error;

/** The schema does not copy the value, so a key named `__proto__` stays. */
function openObject(bytes: number) {
  return z
    .custom<Record<string, unknown>>(isObject, { error: requiredOr('must be an object') })
    .check(...jsonLimits(bytes))
    .meta({ type: 'object' });
}

export const OpenObject = /* @__PURE__ */ defineSchema(() => openObject(limits.objectBytes));

/** The value has at most 64 KB and 32 levels. The schema does not copy the value. */
export const JsonValue = /* @__PURE__ */ defineSchema(() =>
  z.custom<unknown>((value) => value !== undefined, { error: 'is required' }).check(...jsonLimits(limits.objectBytes)),
);

export const AnyObject = /* @__PURE__ */ defineSchema(() => z.record(z.string(), z.unknown()));

const declaredKeys = new WeakMap<z.core.$ZodType, z.ZodObject>();
const storedAsSent = new WeakSet<z.core.$ZodType>();

export function isStoredAsSent(schema: z.core.$ZodType): boolean {
  const { parent } = schema._zod;
  return storedAsSent.has(schema) || (parent !== undefined && isStoredAsSent(parent));
}

const furtherFields = new WeakMap<z.core.$ZodType, (name: string) => boolean>();

export function withFurtherFields<S extends z.ZodType>(object: S, accepts: (name: string) => boolean = () => true): S {
  furtherFields.set(object, accepts);
  return object;
}

/** Returns undefined if the object is not from `withFurtherFields`. */
export function acceptsField(schema: z.core.$ZodType, name: string): boolean | undefined {
  const { parent } = schema._zod;
  return furtherFields.get(schema)?.(name) ?? (parent && acceptsField(parent, name));
}

const serviceFields = new WeakMap<z.core.$ZodType, Readonly<Record<string, z.ZodType>>>();

/**
 * The names of these fields begin with the name of the service. `fields` has the rest of the names. A schema is the
 * same for every deployment, so it cannot declare them.
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

/** Returns the declared fields of a schema from `withOpenKeys` or `unchangedObject`. */
export function declaredKeysOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const { parent } = schema._zod;
  return declaredKeys.get(schema) ?? (parent && declaredKeysOf(parent));
}

/**
 * The parsed value has the undeclared fields in `open`. `bytes` limits all fields together, and `accepts` the names of
 * undeclared ones. A loose object of zod would lose a key named `__proto__`.
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

/** The parsed value is the same object, so a key named `__proto__` stays. */
export function unchangedObject(declared: z.ZodObject): z.ZodType<Readonly<Record<string, unknown>>> {
  const schema = OpenObject.check(({ value, issues }) => {
    // zod also runs this check on a value that is not an object. `OpenObject` has reported such a value.
    if (!isObject(value)) return;
    for (const issue of declared.safeParse(value, { reportInput: true }).error?.issues ?? [])
      issues.push({ ...issue, input: issue.input } as never);
  });
  declaredKeys.set(schema, declared);
  storedAsSent.add(schema);
  return schema;
}

export interface FieldRule {
  readonly rule: 'anyOf' | 'oneOf';
  readonly names: readonly string[];
}

const fieldRules = new WeakMap<object, FieldRule>();

/** The API reference says that `check` enforces `rule` on `names`. It omits fields that the object does not have. */
export function withFieldRule<C extends object>(rule: FieldRule['rule'], names: readonly string[], check: C): C {
  fieldRules.set(check, { rule, names });
  return check;
}

export function requireAnyOf<N extends string>(names: readonly N[], params: { path?: string[]; error: string }) {
  const check = z.refine<{ readonly [K in N]?: unknown }>(
    (sent) => names.some((name) => sent[name] !== undefined),
    params,
  );
  return withFieldRule('anyOf', names, check);
}

/**
 * The check refuses a partial update without one of `fields`. Clients depend on `message`, which the first issue has.
 * Each field has an issue too. `isChange` replaces the test whether an update changes something.
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

export function fieldRuleOf(check: object): FieldRule | undefined {
  return fieldRules.get(check);
}

/**
 * Fields of a request that one version of the API ignores or requires, unlike the schema that both versions share
 * (`defineTwin`).
 */
export interface FieldChanges {
  readonly ignored?: readonly string[];
  readonly required?: readonly string[];
}

const changedFields = new WeakMap<z.core.$ZodType, { readonly base: z.ZodType; readonly changes: FieldChanges }>();

export function fieldChangesOf(schema: z.core.$ZodType) {
  return changedFields.get(schema);
}

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

/** The function does not recurse, so a deeply nested value cannot overflow the stack. */
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

export const MetadataFilters = /* @__PURE__ */ defineSchema(() =>
  list(MetadataFilter, limits.filters).describe(
    'Conditions on the metadata of documents. A document must meet all of them.',
  ),
);

/** The service refuses a documented field or a value of it. The guide lists all refusals. */
export interface Refusal {
  readonly values: string;
  readonly message: string;
  readonly field?: string;
}

const refusals = new WeakMap<z.core.$ZodType, Refusal>();

/** Call this function last, because `check` and `meta` copy a schema. */
export function withRefusal<S extends z.core.$ZodType>(schema: S, refusal: Refusal): S {
  refusals.set(schema, refusal);
  return schema;
}

export function refusalOf(schema: z.core.$ZodType): Refusal | undefined {
  return refusals.get(schema);
}

/** The field refuses every value except `null`. */
export function unsupportedField(error: string) {
  const schema = z.custom<undefined>(() => false, { error }).meta({ type: 'null', description: error });
  return optional(withRefusal(schema, { values: 'any', message: error }));
}

/** A webhook about added and removed users would send this field. This service has none. */
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

export const documentOrFolder = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ documentId?: string | undefined; folderId?: string | undefined }>(
    ({ documentId, folderId }) => documentId === undefined || folderId === undefined,
    { path: ['folderId'], error: 'must not be given together with documentId' },
  ),
);

export function notTogether(name: string, ...others: readonly string[]) {
  const isSent = (input: Record<string, unknown>, field: string) =>
    input[field] !== undefined && input[field] !== false;
  return z.refine<Record<string, unknown>>(
    (input) => !isSent(input, name) || !others.some((other) => isSent(input, other)),
    { path: [name], error: `must not be given together with ${others.join(', ')}` },
  );
}

/** Each field has a value or a list of values, at most 200 in all. */
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

/** The name of a field counts once for each value, because the texts `field:value` repeat it. */
function contextBytes(access: Record<string, unknown>): number {
  return Object.entries(access).reduce((sum, [field, sent]) => {
    const values = [sent].flat();
    return sum + values.length * jsonBytes(field) + jsonBytes(values);
  }, 0);
}

function isContextValue(value: unknown): boolean {
  return (typeof value === 'string' && value.isWellFormed()) || typeof value === 'number';
}

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
export const NextToken = /* @__PURE__ */ defineSchema(() =>
  z.string().nullable().describe('Continues the listing as `pageToken`. Null after the last page.'),
);

/**
 * A request must not have both a page token and the ids in the field `ids`, because the items of these ids are on one
 * page.
 */
export function pagesOrIds<S extends z.ZodRawShape>(ids: keyof S & string, shape: S) {
  return z
    .object({ ...shape, pageSize: optional(PageSize), pageToken: optional(PageToken) })
    .check(notTogether('pageToken', ids));
}
