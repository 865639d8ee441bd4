import type * as z from 'zod';
import { isObject } from './collections.ts';
import { fieldName, type Issue } from './errors.ts';
import { isSameName, nearName } from './nearName.ts';
import { acceptsField, declaredKeysOf, fieldChangesOf, isStoredAsSent } from './schema.ts';

const MAX_REPORTED = 20;
/** Each suggestion can search hundreds of objects of the schema. */
const MAX_SUGGESTIONS = 10;
const MAX_VISITED = 300;
const MAX_NAME_CHARACTERS = 100;

type Path = readonly (string | number)[];

export type FieldTree =
  | {
      readonly kind: 'object';
      readonly fields: ReadonlyMap<string, () => FieldTree | undefined>;
      readonly allows: (name: string) => boolean;
    }
  | { readonly kind: 'list'; readonly item: () => FieldTree | undefined; readonly most: number }
  | { readonly kind: 'record'; readonly value: () => FieldTree | undefined }
  | { readonly kind: 'union'; readonly options: readonly (() => FieldTree | undefined)[] };
type ObjectTree = Extract<FieldTree, { kind: 'object' }>;

interface Level {
  readonly tree: ObjectTree;
  readonly path: Path;
}

const trees = new WeakMap<z.core.$ZodType, { readonly tree: FieldTree | undefined }>();

export function fieldTree(schema: z.core.$ZodType): FieldTree | undefined {
  const known = trees.get(schema);
  if (known) return known.tree;
  const tree = makeTree(schema);
  trees.set(schema, { tree });
  return tree;
}

function makeTree(schema: z.core.$ZodType): FieldTree | undefined {
  const changed = fieldChangesOf(schema);
  if (changed) return withIgnored(fieldTree(changed.base), changed.changes.ignored ?? []);
  if (isStoredAsSent(schema)) return undefined;
  const declared = declaredKeysOf(schema);
  if (declared) return objectTree(declared, (name) => acceptsField(schema, name) === true);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- all other types have no fields
  switch (def.type) {
    case 'object': {
      const isLoose = def.catchall !== undefined && def.catchall._zod.def.type !== 'never';
      return objectTree(schema as z.core.$ZodObject, (name) => acceptsField(schema, name) ?? isLoose);
    }
    case 'array':
      return { kind: 'list', item: () => fieldTree(def.element), most: maximumOf(schema) };
    case 'record':
      return { kind: 'record', value: () => fieldTree(def.valueType) };
    case 'union':
      return { kind: 'union', options: def.options.filter((o) => !isScalar(o)).map((o) => () => fieldTree(o)) };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return fieldTree(def.innerType);
    case 'lazy':
      return fieldTree(def.getter());
    case 'pipe': {
      const first = (def.in as z.core.$ZodTypes)._zod.def;
      const checksOnlyLength = first.type === 'array' && first.element._zod.def.type === 'unknown';
      return fieldTree(first.type === 'transform' || first.type === 'unknown' || checksOnlyLength ? def.out : def.in);
    }
    default:
      return undefined;
  }
}

const scalars = new Set(['string', 'number', 'int', 'boolean', 'enum', 'literal', 'null', 'undefined']);

function isScalar(schema: z.core.$ZodType): boolean {
  return scalars.has(schema._zod.def.type);
}

function maximumOf(schema: z.core.$ZodType): number {
  const maxima = (schema._zod.def.checks ?? []).map(({ _zod: { def } }) =>
    'maximum' in def ? Number(def.maximum) : Infinity,
  );
  return Math.min(Infinity, ...maxima);
}

function objectTree(schema: z.core.$ZodObject, allows: (name: string) => boolean): ObjectTree {
  const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => [name, () => fieldTree(field)] as const);
  return { kind: 'object', fields: new Map(fields), allows };
}

function withIgnored(tree: FieldTree | undefined, ignored: readonly string[]): FieldTree | undefined {
  if (tree?.kind !== 'object') return tree;
  const fields = [...tree.fields].filter(([name]) => !ignored.includes(name));
  return { ...tree, fields: new Map(fields), allows: (name) => ignored.includes(name) || tree.allows(name) };
}

export function unknownFields(schema: z.core.$ZodType, data: unknown): Issue[] {
  const tree = fieldTree(schema);
  const found: { readonly name: string; readonly levels: readonly Level[] }[] = [];
  walk(tree, data, [], [], (name, levels) => {
    found.push({ name, levels });
    return found.length < MAX_REPORTED;
  });
  return found.map(({ name, levels }, index) => unknownField(name, levels, index < MAX_SUGGESTIONS));
}

function walk(
  tree: FieldTree | undefined,
  data: unknown,
  path: Path,
  above: readonly Level[],
  report: (name: string, levels: readonly Level[]) => boolean,
): boolean {
  if (!tree || typeof data !== 'object' || data === null) return true;
  if (tree.kind === 'union') return walk(alternative(tree, data), data, path, above, report);
  if (tree.kind === 'list') {
    if (!Array.isArray(data) || data.length > tree.most) return true;
    const item = tree.item();
    return !item || data.every((value, index) => walk(item, value, [...path, index], above, report));
  }
  if (!isObject(data)) return true;
  if (tree.kind === 'record')
    return Object.keys(data).every((key) => walk(tree.value(), data[key], [...path, key], above, report));
  const levels = [...above, { tree, path }];
  return Object.keys(data).every((name) => {
    const field = tree.fields.get(name);
    if (field) return walk(field(), data[name], [...path, name], levels, report);
    return tree.allows(name) || report(name, levels);
  });
}

/** Of the alternatives that are a list or an object as `data` is, returns the one with the fewest unknown fields. */
function alternative({ options }: Extract<FieldTree, { kind: 'union' }>, data: object): FieldTree | undefined {
  const trees = options.map((option) => option());
  const [first, ...others] = trees.filter(
    (tree) => tree === undefined || tree.kind === 'union' || (tree.kind === 'list') === Array.isArray(data),
  );
  if (others.length === 0) return first;
  const counted = [first, ...others].map((tree) => {
    let count = 0;
    if (tree)
      walk(tree, data, [], [], () => {
        count++;
        return count < MAX_REPORTED;
      });
    return { tree, count };
  });
  return counted.toSorted((a, b) => a.count - b.count)[0]?.tree;
}

function unknownField(name: string, levels: readonly Level[], suggests: boolean): Issue {
  const { path = [] } = levels.at(-1) ?? {};
  return unknownFieldIssue([...path, name], suggests ? probableField(name, levels) : undefined);
}

export function unknownFieldIssue(path: Path, meant?: Path): Issue {
  const shown = path.map((part) => (typeof part === 'string' ? printable(part) : part));
  const hint = meant ? ` Did you mean ${fieldName(meant)}?` : '';
  return { path: shown, code: 'unrecognized_keys', message: `${fieldName(shown)}: unknown field.${hint}` };
}

export function printable(name: string): string {
  const cut = name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}...` : name;
  return cut.toWellFormed().replaceAll(/\p{Cc}/gu, '\ufffd');
}

/** Prefers the same name to a similar one, and the object with the unknown field to other objects. */
function probableField(name: string, levels: readonly Level[]): Path | undefined {
  const [object, ...above] = levels.toReversed();
  if (!object) return undefined;
  const same = (known: readonly string[]) => known.find((candidate) => isSameName(candidate, name));
  const near = (known: readonly string[]) => nearName(name, known);
  const searches = [
    () => findBelow(object, same, MAX_VISITED),
    ...above.map((level) => () => findBelow(level, same, 1)),
    ...[object, ...childrenOf(object), ...above.slice(0, 1)].map((level) => () => findBelow(level, near, 1)),
  ];
  for (const search of searches) {
    const found = search();
    if (found) return found;
  }
  return undefined;
}

/** Searches breadth-first. */
function findBelow(
  start: Level,
  choose: (known: readonly string[]) => string | undefined,
  most: number,
): Path | undefined {
  const queue = [start];
  for (let visited = 0; visited < most; visited++) {
    const level = queue[visited];
    if (!level) return undefined;
    const name = choose([...level.tree.fields.keys()]);
    if (name !== undefined) return [...level.path, name];
    if (queue.length < most) queue.push(...childrenOf(level));
  }
  return undefined;
}

function childrenOf({ tree, path }: Level): Level[] {
  return [...tree.fields].flatMap(([name, field]) => objectsOf(field(), [...path, name]));
}

function objectsOf(tree: FieldTree | undefined, path: Path): Level[] {
  if (tree?.kind === 'object') return [{ tree, path }];
  if (tree?.kind === 'list') return objectsOf(tree.item(), [...path, 0]);
  return tree?.kind === 'union' ? tree.options.flatMap((option) => objectsOf(option(), path)) : [];
}
