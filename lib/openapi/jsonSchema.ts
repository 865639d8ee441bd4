import * as z from 'zod';
import {
  acceptsField,
  declaredKeysOf,
  type FieldChanges,
  fieldChangesOf,
  fieldRuleOf,
  isStoredAsSent,
  nameOf,
  serviceFieldsOf,
} from '../shared/schema.ts';
import { commonFields } from './commonFields.ts';
import { placeholders } from './deployment.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

export interface Reference {
  readonly $ref: string;
}

/** Only a request schema forbids unknown fields: later versions can add fields to answers. */
type Form = 'request' | 'answer';

export class ComponentSchemas {
  readonly #schemas = new Map<string, z.core.$ZodType>();
  readonly #json: Record<string, JsonSchema> = {};
  readonly serviceName: string;

  constructor(serviceName = placeholders.serviceName) {
    this.serviceName = serviceName;
  }

  /** Also adds the named schemas that the schema contains. */
  add(name: string, schema: z.core.$ZodType, form: Form): JsonSchema {
    const known = this.#schemas.get(name);
    if (known !== undefined && known !== schema) throw new Error(`Two different schemas have the name ${name}`);
    this.#schemas.set(name, schema);
    if (!known) this.#json[name] = jsonSchemaOf(schema, this, form);
    return { $ref: `#/components/schemas/${name}` };
  }

  toJson(): Record<string, JsonSchema> {
    return Object.fromEntries(Object.entries(this.#json).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** With `components`, named schemas inside the zod schema become references to them. */
export function jsonSchemaOf(
  schema: z.core.$ZodType,
  components?: ComponentSchemas,
  form: Form = 'answer',
): JsonSchema {
  return describeCommonFields(withoutNullFields(completeSchemaOf(schema, components, form)) as JsonSchema);
}

/** A field without a text of its own gets the text that its name has in all operations. */
function describeCommonFields(schema: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const choices = { anyOf, oneOf, allOf };
  const nested = (part: unknown) => (typeof part === 'object' ? describeCommonFields(part as JsonSchema) : part);
  const described = ([name, part]: [string, unknown]): [string, JsonSchema] => {
    const field = nested(part) as JsonSchema;
    const text = Object.hasOwn(commonFields, name) ? commonFields[name] : undefined;
    return [name, text === undefined || field.description || field.$ref ? field : { description: text, ...field }];
  };
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(described)) }),
    ...(items !== undefined && { items: nested(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: nested(additionalProperties) }),
    ...Object.fromEntries(Object.entries(choices).flatMap(([key, parts]) => (parts ? [[key, parts.map(nested)]] : []))),
  } as JsonSchema;
}

function completeSchemaOf(schema: z.core.$ZodType, components: ComponentSchemas | undefined, form: Form): JsonSchema {
  const jsonSchemaFromZod: JsonSchema = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    // If zod has no JSON Schema for a part, the part becomes an empty schema. A test rejects operations with an empty
    // schema.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const name = zodSchema === schema ? undefined : nameOf(zodSchema);
      const replacement =
        components && name !== undefined
          ? components.add(name, zodSchema, form)
          : replacementFor(zodSchema, jsonSchema, components, form);
      if (replacement) {
        for (const keyword of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, keyword);
        Object.assign(jsonSchema, replacement);
        if (!jsonSchema.$ref) addText(zodSchema, jsonSchema);
      }
      if (jsonSchema.$ref) keepText(jsonSchema);
      if (jsonSchema.$ref) return;
      if (form === 'request' && zodSchema instanceof z.ZodObject && acceptsField(zodSchema, ANY_NAME) !== true)
        jsonSchema.additionalProperties ??= false;
      addServiceFields(zodSchema, jsonSchema, components, form);
      addRules(zodSchema, jsonSchema);
      describeRules(zodSchema, jsonSchema);
    },
  });
  delete jsonSchemaFromZod.$schema;
  return simplifyAnyOf(jsonSchemaFromZod) as JsonSchema;
}

function addText(schema: z.core.$ZodType, json: JsonSchema): void {
  const text = z.globalRegistry.get(schema)?.description;
  const rules = json.description === anything.description ? undefined : json.description;
  if (text !== undefined) json.description = [text, ...(rules === undefined ? [] : [rules])].join(' ');
}

/** A copy of a named schema with a text of its own inherits the reference, but zod also writes out the whole schema. */
function keepText(reference: JsonSchema): void {
  for (const keyword of Object.keys(reference))
    if (keyword !== '$ref' && keyword !== 'description') Reflect.deleteProperty(reference, keyword);
}

/**
 * Adds fields whose names begin with the name of the service. Without `components`, a placeholder stands for the name.
 */
function addServiceFields(
  schema: z.core.$ZodType,
  json: JsonSchema,
  components: ComponentSchemas | undefined,
  form: Form,
): void {
  const { serviceName = placeholders.serviceName } = components ?? {};
  for (const [rest, field] of Object.entries(serviceFieldsOf(schema))) {
    json.properties = { ...json.properties, [serviceName + rest]: completeSchemaOf(field, components, form) };
    json.additionalProperties = false;
  }
}

const ANY_NAME = 'x-other';

const anything: JsonSchema = { description: 'Any JSON value' };

/** Needs the finished schema, because zod fills in shared parts last. */
function simplifyAnyOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simplifyAnyOf);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, ...others } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, simplifyAnyOf(value)]),
  ) as JsonSchema;
  if (!anyOf) return others;
  const { description } = others;
  if (anyOf.some(allowsAnything)) return { ...anything, ...(description !== undefined && { description }) };
  const [first, second] = anyOf;
  const nullable = anyOf.length === 2 && second?.type === 'null' && first ? withNull(first) : undefined;
  const texts = new Set([description, nullable?.description].filter((text) => text !== undefined));
  return { ...others, ...(nullable ?? { anyOf }), ...(texts.size > 0 && { description: [...texts].join(' ') }) };
}

function allowsAnything(alternative: unknown): boolean {
  return typeof alternative === 'object' && Object.keys(alternative ?? {}).every((key) => key === 'description');
}

/** Client generators read an `anyOf` as a choice of types, and some then write code that does not compile. */
function withNull(schema: JsonSchema): JsonSchema | undefined {
  const { type, not, ...others } = schema;
  // A field that the service refuses accepts no value, or only null.
  if (not || type === 'null') return { ...others, type: 'null' };
  // For an enum that contains null, and in Python for an enum of booleans, generators write code that does not compile.
  if (typeof type !== 'string' || 'const' in schema || 'enum' in schema) return undefined;
  return { type: [type, 'null'], ...others } as unknown as JsonSchema;
}

/**
 * Generators have no type for fields that can only be null. The description of the object names an optional one
 * instead, and a required one becomes an object or null.
 */
function withoutNullFields(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNullFields);
  if (typeof node !== 'object' || node === null) return node;
  const schema = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutNullFields(value)]),
  ) as JsonSchema;
  const { properties, required = [] } = schema;
  if (schema.type !== 'object' || !properties) return schema;
  const isNull = (field: unknown) => (field as JsonSchema).type === 'null';
  const refused = Object.entries(properties).filter(([name, field]) => isNull(field) && !required.includes(name));
  const remaining = Object.entries(properties)
    .filter(([name, field]) => !isNull(field) || required.includes(name))
    .map(([name, field]) => [name, isNull(field) ? ALWAYS_NULL : field] as const);
  const rules = refused.map(
    ([name, field]) => `\`${name}\` ${(field as JsonSchema).description ?? 'must be left out'}.`,
  );
  const description = [...(schema.description === undefined ? [] : [schema.description]), ...rules].join(' ');
  return { ...schema, properties: Object.fromEntries(remaining), ...(description !== '' && { description }) };
}

const ALWAYS_NULL = { type: ['object', 'null'], description: 'Always null.' };

/**
 * Puts rules into `then`, which client generators ignore. They would read an `anyOf` or `allOf` as a choice of types or
 * as a base type.
 */
function addRules(schema: z.core.$ZodType, json: JsonSchema): void {
  // null means the same as a missing field.
  const requires = (name: string) => ({ properties: { [name]: { not: { type: 'null' } } }, required: [name] });
  const rules = (schema._zod.def.checks ?? []).flatMap((check) => {
    const { rule, names = [] } = fieldRuleOf(check) ?? {};
    return rule ? [{ [rule]: names.filter((name) => name in (json.properties ?? {})).map(requires) }] : [];
  });
  const [rule, ...others] = rules;
  if (rule) Object.assign(json, { if: { type: 'object' }, then: others.length > 0 ? { allOf: rules } : rule });
}

/**
 * Adds messages of checks that JSON Schema cannot express. For texts and open objects, adds only the limit in bytes,
 * because nearly all have the same other rules.
 */
function describeRules(schema: z.core.$ZodType, json: JsonSchema): void {
  const isFree = schema instanceof z.ZodString || schema instanceof z.ZodCustom;
  const { base = schema, changes } = fieldChangesOf(schema) ?? {};
  const rules = (base._zod.def.checks ?? []).flatMap((check) => {
    const { path: [field] = [], error } = check._zod.def as Partial<z.core.$ZodCustomDef>;
    const { names } = fieldRuleOf(check) ?? {};
    const message =
      error?.({ code: 'custom', input: undefined, path: [] }) ??
      (names && `must have at least one of ${names.join(', ')}`);
    if (typeof message !== 'string' || changes?.ignored?.includes(String(field))) return [];
    if (isFree)
      return message.startsWith('must be at most') ? `At most${message.slice('must be at most'.length)}.` : [];
    return field === undefined
      ? `${message[0]?.toUpperCase()}${message.slice(1)}.`
      : `\`${String(field)}\` ${message}.`;
  });
  const text = z.globalRegistry.get(base)?.description;
  if (rules.length > 0) json.description = [...(text === undefined ? [] : [text]), ...rules].join(' ');
}

/** Returns undefined if zod's own JSON Schema is complete. */
function replacementFor(
  schema: z.core.$ZodType,
  fromZod: JsonSchema,
  components: ComponentSchemas | undefined,
  form: Form,
): JsonSchema | undefined {
  const isEmpty = schema instanceof z.ZodCustom && Object.keys(fromZod).length === 0;
  if (schema instanceof z.ZodUnknown || isEmpty) return anything;
  const changed = fieldChangesOf(schema);
  if (changed) return withChanges(completeSchemaOf(changed.base, components, form), changed.changes);
  const declaredKeys = declaredKeysOf(schema);
  if (declaredKeys) {
    const isStored = isStoredAsSent(schema);
    return {
      ...completeSchemaOf(declaredKeys, components, isStored ? 'answer' : form),
      additionalProperties: isStored || acceptsField(schema, ANY_NAME) === true,
    };
  }
  // A list from `list` is a pipe: it checks the length before the items.
  const isList =
    schema instanceof z.ZodPipe && schema.in instanceof z.ZodArray && schema.in.element instanceof z.ZodUnknown;
  return isList ? completeSchemaOf(schema.out, components, form) : undefined;
}

function withChanges({ properties = {}, required = [], ...schema }: JsonSchema, changes: FieldChanges): JsonSchema {
  const { ignored = [], required: alsoRequired = [] } = changes;
  const remaining = Object.entries(properties)
    .filter(([key]) => !ignored.includes(key))
    .map(([key, field]) => [key, alsoRequired.includes(key) ? withoutNull(field as JsonSchema) : field] as const);
  const allRequired = [...new Set([...required, ...alsoRequired])];
  return {
    ...schema,
    properties: Object.fromEntries(remaining),
    ...(allRequired.length > 0 && { required: allRequired }),
  };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf = [] } = schema;
  const [choice, ...others] = anyOf.filter((alternative: JsonSchema) => alternative.type !== 'null');
  if (choice && others.length === 0) return choice;
  const [only] = [type].flat();
  return { ...schema, ...(only && { type: only }), ...(values && { enum: values.filter((value) => value !== null) }) };
}
