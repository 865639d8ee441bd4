import type * as z from 'zod';
import { isObject } from '../shared/collections.ts';

/** Adds the paths of undeclared fields to `dropped`. If all fields are declared, returns `value` itself. */
export type Trim = (value: unknown, dropped: Set<string>) => unknown;

const keep: Trim = (value) => value;

/**
 * Returns the function that removes undeclared fields. It checks no types, so it is faster than parsing. A path has the
 * form `data[].comments[].text`, with `*` for keys of a map.
 */
export function outputTrimmer(schema: z.core.$ZodType, path = ''): Trim {
  const { def } = (schema as z.core.$ZodTypes)._zod;

  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- all other types have no fields
  switch (def.type) {
    case 'object': {
      const fields = new Map(
        Object.entries(def.shape).map(([name, field]) => [name, outputTrimmer(field, join(path, name))]),
      );
      const isOpen = def.catchall !== undefined && def.catchall._zod.def.type !== 'never';
      return fieldTrimmer((name) => fields.get(name) ?? (isOpen ? keep : dropAt(join(path, name))));
    }
    case 'record': {
      const trim = outputTrimmer(def.valueType, join(path, '*'));
      return trim === keep ? keep : fieldTrimmer(() => trim);
    }
    case 'array': {
      const trim = outputTrimmer(def.element, `${path}[]`);
      return trim === keep ? keep : itemTrimmer(trim);
    }
    case 'union':
      return unionTrimmer(def.options, path);
    case 'optional':
    case 'nullable':
      return outputTrimmer(def.innerType, path);
    case 'pipe':
      return outputTrimmer(def.out._zod.def.type === 'transform' ? def.in : def.out, path);
    default:
      return keep;
  }
}

function fieldTrimmer(trimOf: (name: string) => Trim): Trim {
  return (value, dropped) => {
    if (!isObject(value)) return value;
    let copy: Record<string, unknown> | undefined;
    for (const name of Object.keys(value)) {
      const trimmed = trimOf(name)(value[name], dropped);
      if (trimmed === value[name]) continue;
      // A spread also copies a field named `__proto__`.
      copy ??= { ...value };
      copy[name] = trimmed;
    }
    return copy ?? value;
  };
}

function itemTrimmer(trim: Trim): Trim {
  return (value, dropped) => {
    if (!Array.isArray(value)) return value;
    const items: readonly unknown[] = value;
    const trimmed = items.map((item) => trim(item, dropped));
    return trimmed.every((item, index) => item === items[index]) ? items : trimmed;
  };
}

function dropAt(path: string): Trim {
  return (value, dropped) => {
    if (value !== undefined) dropped.add(path);
    return undefined;
  };
}

/** Of the alternatives of the value's kind (object or array), uses the one that drops the fewest fields. */
function unionTrimmer(options: readonly z.core.$ZodType[], path: string): Trim {
  const alternatives = options.map((option) => ({ kind: kindOf(option), trim: outputTrimmer(option, path) }));
  return (value, dropped) => {
    const kind = Array.isArray(value) ? 'array' : 'object';
    let best: { readonly trimmed: unknown; readonly dropped: Set<string> } | undefined;
    for (const alternative of alternatives.filter((candidate) => candidate.kind === kind)) {
      const droppedHere = new Set<string>();
      const trimmed = alternative.trim(value, droppedHere);
      if (!best || droppedHere.size < best.dropped.size) best = { trimmed, dropped: droppedHere };
    }
    for (const name of best?.dropped ?? []) dropped.add(name);
    return best ? best.trimmed : value;
  };
}

function kindOf(schema: z.core.$ZodType): 'array' | 'object' | 'other' {
  const { type } = (schema as z.core.$ZodTypes)._zod.def;
  if (type === 'array') return 'array';
  return type === 'object' || type === 'record' ? 'object' : 'other';
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
