import * as z from 'zod';
import { fieldChangesOf, type FieldChanges, fieldRulesOf, declaredKeysOf } from '../shared/schema.ts';

/** JSON Schema 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The names of schemas that are components of the document. */
export type SharedSchemas = ReadonlyMap<z.core.$ZodType, string>;

const none: SharedSchemas = new Map();

/** Returns the JSON Schema of the input of a schema. It refers to shared schemas. */
export function jsonSchemaOf(schema: z.core.$ZodType, shared: SharedSchemas = none): JsonSchema {
  const made: JsonSchema = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    // Such a part becomes an empty schema. A test rejects an operation with one.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const name = zodSchema === schema ? undefined : shared.get(zodSchema);
      const better = name === undefined ? beyondZod(zodSchema, jsonSchema) : { $ref: `#/components/schemas/${name}` };
      if (!better) {
        addRules(zodSchema, jsonSchema);
        return;
      }
      for (const keyword of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, keyword);
      Object.assign(jsonSchema, better);
    },
  });
  delete made.$schema;
  return withAnything(made) as JsonSchema;
}

const anything: JsonSchema = { description: 'Any JSON value' };

/**
 * Replaces each choice that includes any value by any value. Works on the finished schema, because zod fills parts that
 * fields share at the end.
 */
function withAnything(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withAnything);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf } = node as JsonSchema;
  if (anyOf?.some((one) => typeof one === 'object' && Object.keys(one).every((key) => key === 'description')))
    return anything;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withAnything(value)]));
}

/** Adds the rules about required fields as `allOf`. Client generators read `anyOf` at the top as a choice of types. */
function addRules(schema: z.core.$ZodType, json: JsonSchema): void {
  if (!(schema instanceof z.ZodObject)) return;
  const rules = fieldRulesOf(schema).map(({ rule, names }) => ({
    [rule]: names.filter((name) => name in schema.shape).map((name) => ({ required: [name] })),
  }));
  if (rules.length > 0) json.allOf = rules;
}

/** Returns the JSON Schema for a schema that zod describes incompletely; undefined for other schemas. */
function beyondZod(schema: z.core.$ZodType, made: JsonSchema): JsonSchema | undefined {
  const saysNothing = schema instanceof z.ZodCustom && Object.keys(made).length === 0;
  if (schema instanceof z.ZodUnknown || saysNothing) return anything;
  const changed = fieldChangesOf(schema);
  if (changed) return withChanges(jsonSchemaOf(changed.base), changed.changes);
  const declaredKeys = declaredKeysOf(schema as z.ZodType);
  if (declaredKeys) return { ...jsonSchemaOf(declaredKeys), additionalProperties: true };
  // `list` is a pipe: it checks the length before the items.
  const isList =
    schema instanceof z.ZodPipe && schema.in instanceof z.ZodArray && schema.in.element instanceof z.ZodUnknown;
  return isList ? jsonSchemaOf(schema.out) : undefined;
}

/** Returns the schema of an object without the ignored fields. The required fields cannot be null. */
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
  };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const choices: JsonSchema[] = schema.anyOf ?? [];
  const [first, ...others] = choices.filter(({ type }) => type !== 'null');
  return first && others.length === 0 ? first : schema;
}
