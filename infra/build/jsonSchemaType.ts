import type * as z from 'zod';
import type { JsonSchema } from '../../lib/openapi/jsonSchema.ts';

/**
 * Returns a TypeScript type. A reference to a component becomes its name, an unsupported schema `unknown`. With
 * `allowsUndefined`, an optional field may be undefined, and an object with fields takes no others.
 */
export function typeOf(schema: z.core.JSONSchema._JSONSchema | JsonSchema, allowsUndefined = false): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const typeOfPart = (part: z.core.JSONSchema._JSONSchema) => typeOf(part, allowsUndefined);
  const {
    $ref: reference,
    const: value,
    enum: values,
    anyOf,
    oneOf,
    allOf,
    type,
    items,
    properties,
    required = [],
    additionalProperties,
  } = schema;
  if (reference !== undefined) return reference.replace(/^.*\//, '');
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((element) => JSON.stringify(element)).join(' | ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives && !properties) return alternatives.map((alternative) => `(${typeOfPart(alternative)})`).join(' | ');
  if (allOf && !properties) return allOf.map((part) => `(${typeOfPart(part)})`).join(' & ');
  if (Array.isArray(type))
    return (type as string[]).map((typeName) => typeOfPart({ ...schema, type: typeName } as JsonSchema)).join(' | ');
  const name = String(type);
  switch (name) {
    case 'string':
    case 'boolean':
    case 'null':
      return name;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `(${items === undefined || Array.isArray(items) ? 'unknown' : typeOfPart(items)})[]`;
    case 'object': {
      const fields = Object.entries(properties ?? {}).map(([name, field]) =>
        required.includes(name)
          ? `${JSON.stringify(name)}: ${typeOfPart(field)}`
          : `${JSON.stringify(name)}?: ${typeOfPart(field)}${allowsUndefined ? ' | undefined' : ''}`,
      );
      if (fields.length === 0)
        return `Record<string, ${typeof additionalProperties === 'object' ? typeOfPart(additionalProperties) : 'unknown'}>`;
      const isOpen = !allowsUndefined && typeof additionalProperties === 'object';
      return `{ ${[...fields, ...(isOpen ? ['[name: string]: unknown'] : [])].join('; ')} }`;
    }
    default:
      return 'unknown';
  }
}
