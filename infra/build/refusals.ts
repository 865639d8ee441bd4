import type * as z from 'zod';
import { declaredKeysOf, fieldChangesOf, type Refusal, refusalOf } from '../../lib/shared/schema.ts';
import { registeredEndpoints } from './registry.ts';

export interface RefusedField extends Refusal {
  readonly path: string;
  readonly field: string;
}

/** Leaves out twins, which refuse the same fields. */
export function refusedFields(): RefusedField[] {
  return registeredEndpoints()
    .filter(({ twinOf }) => twinOf === undefined)
    .flatMap(({ path, input }) =>
      [...schemasIn(input)].flatMap(([field, schema]) => {
        const refusal = refusalOf(schema);
        return refusal ? [{ path, ...refusal, field: [field, refusal.field].filter(Boolean).join('.') }] : [];
      }),
    );
}

/** Yields a schema and all schemas inside it that a request can match, each with the path of its field. */
export function* schemasIn(schema: z.core.$ZodType, field = ''): Generator<readonly [string, z.core.$ZodType]> {
  yield [field, schema];
  const base = fieldChangesOf(schema)?.base ?? declaredKeysOf(schema);
  if (base) {
    yield* schemasIn(base, field);
    return;
  }
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') {
    for (const [name, inner] of Object.entries(def.shape)) yield* schemasIn(inner, field ? `${field}.${name}` : name);
  } else if (def.type === 'array') yield* schemasIn(def.element, `${field}[]`);
  else if (def.type === 'record') yield* schemasIn(def.valueType, `${field}.*`);
  else if (def.type === 'union') for (const option of def.options) yield* schemasIn(option, field);
  else if ('innerType' in def) yield* schemasIn(def.innerType, field);
  else if (def.type === 'pipe') {
    // If a pipe begins with a list, a transform or `unknown`, its first part checks only a length, changes the data or
    // accepts everything. So the second part describes the request.
    const { type } = (def.in as z.core.$ZodTypes)._zod.def;
    yield* schemasIn(['array', 'transform', 'unknown'].includes(type) ? def.out : def.in, field);
  }
}
