import * as z from 'zod';
import { fieldChangesOf, type FieldChanges, fieldRulesOf, declaredKeysOf } from '../shared/schema.ts';

/** A schema as the document writes it: JSON Schema 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Schemas that the document has among its components, by their names there. */
export type SharedSchemas = ReadonlyMap<z.core.$ZodType, string>;

const none: SharedSchemas = new Map();

/** The JSON Schema (2020-12) of what a schema takes; what is shared is referred to. */
export function jsonSchemaOf(schema: z.core.$ZodType, shared: SharedSchemas = none): JsonSchema {
  const made: JsonSchema = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    // What is left out of the document by this is an empty schema, which no operation may have.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const name = zodSchema === schema ? undefined : shared.get(zodSchema);
      const better = name === undefined ? beyondZod(zodSchema, jsonSchema) : { $ref: `#/components/schemas/${name}` };
      if (!better) return addRules(zodSchema, jsonSchema);
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      Object.assign(jsonSchema, better);
    },
  });
  delete made.$schema;
  return withAnything(made) as JsonSchema;
}

const anything: JsonSchema = { description: 'Any JSON value' };

/**
 * A schema in which every choice that includes everything is any value. It needs the finished schema: while zod still makes it, a part that several
 * fields share is empty.
 */
function withAnything(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withAnything);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf } = node as JsonSchema;
  if (anyOf?.some((one) => typeof one === 'object' && Object.keys(one).every((key) => key === 'description')))
    return anything;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withAnything(value)]));
}

/** Adds which fields must be given. They stand in `allOf`, beside the properties: generators take `anyOf` at the top for a choice of types. */
function addRules(schema: z.core.$ZodType, json: JsonSchema): void {
  if (!(schema instanceof z.ZodObject)) return;
  const rules = fieldRulesOf(schema).map(({ rule, names }) => ({
    [rule]: names.filter((name) => name in schema.shape).map((name) => ({ required: [name] })),
  }));
  if (rules.length > 0) json.allOf = rules;
}

/** What zod's own JSON Schema of a schema does not say; undefined where it says everything. */
function beyondZod(schema: z.core.$ZodType, made: JsonSchema): JsonSchema | undefined {
  const saysNothing = schema instanceof z.ZodCustom && Object.keys(made).length === 0;
  if (schema instanceof z.ZodUnknown || saysNothing) return anything;
  const changed = fieldChangesOf(schema);
  if (changed) return withChanges(jsonSchemaOf(changed.base), changed.changes);
  const known = declaredKeysOf(schema as z.ZodType);
  if (known) return { ...jsonSchemaOf(known), additionalProperties: true };
  // `list` checks the length before the items, which are unknown until then.
  const isList =
    schema instanceof z.ZodPipe && schema.in instanceof z.ZodArray && schema.in.element instanceof z.ZodUnknown;
  return isList ? jsonSchemaOf(schema.out) : undefined;
}

/** The schema of an object without the ignored fields, and with the required ones, which then cannot be null. */
function withChanges({ properties = {}, required = [], ...schema }: JsonSchema, changes: FieldChanges): JsonSchema {
  const { ignored = [], required: more = [] } = changes;
  const kept = Object.entries(properties)
    .filter(([key]) => !ignored.includes(key))
    .map(([key, one]) => [key, more.includes(key) ? withoutNull(one as JsonSchema) : one] as const);
  const needed = [...new Set([...required, ...more])];
  return {
    ...schema,
    properties: Object.fromEntries(kept),
    ...(needed.length > 0 && { required: needed }),
  } as JsonSchema;
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const choices = schema.anyOf?.filter((one) => (one as JsonSchema).type !== 'null') as JsonSchema[] | undefined;
  return choices?.length === 1 ? choices[0]! : schema;
}
