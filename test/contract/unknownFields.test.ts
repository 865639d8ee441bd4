import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { isObject } from '../../lib/shared/collections.ts';
import { fieldName, type Issue } from '../../lib/shared/errors.ts';
import { acceptsField, declaredKeysOf, fieldChangesOf, isStoredAsSent } from '../../lib/shared/schema.ts';
import { type FieldTree, fieldTree, unknownFields } from '../../lib/shared/unknownFields.ts';
import { requestIssues } from '../support/requestIssues.ts';
import { endpoints } from './cases.ts';
import { documentedFields, sampleOf } from './documentedFields.ts';

const inputOf = (path: string) => endpoints.find((endpoint) => endpoint.path === path)!.input;

/** The kinds of schemas without fields. */
const scalars = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'enum',
  'literal',
  'null',
  'undefined',
  'transform',
  'never',
]);

/** Yields the path and the form of each object that a request schema has, at any depth. */
function* objects(
  schema: z.core.$ZodType,
  path: string,
): Generator<readonly [path: string, form: 'closed' | 'open' | 'free']> {
  const changed = fieldChangesOf(schema);
  if (changed) return yield* objects(changed.base, path);
  if (isStoredAsSent(schema)) return yield [path, 'free'];
  const declared = declaredKeysOf(schema);
  const { def } = (declared ?? (schema as z.core.$ZodTypes))._zod;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other types fail
  switch (def.type) {
    case 'object': {
      const isOpen =
        acceptsField(schema, 'x-other') ?? (def.catchall !== undefined && def.catchall._zod.def.type !== 'never');
      yield [path, isOpen ? 'open' : 'closed'];
      for (const [name, field] of Object.entries(def.shape))
        yield* objects(field, path === '' ? name : `${path}.${name}`);
      return;
    }
    case 'array':
      return yield* objects(def.element, `${path}[]`);
    case 'record':
      return yield* objects(def.valueType, `${path}.*`);
    case 'union':
      for (const option of def.options) yield* objects(option, path);
      return;
    case 'optional':
    case 'nullable':
    case 'default':
      return yield* objects(def.innerType, path);
    case 'pipe': {
      // A list checks its length before its items. A function can change the data before the object.
      const isList = (def.in as z.core.$ZodTypes)._zod.def.type === 'array';
      const isFirst = ['transform', 'unknown'].includes(def.in._zod.def.type);
      return yield* objects(isList || isFirst ? def.out : def.in, path);
    }
    case 'unknown':
    case 'custom':
      return yield [path, 'free'];
    default:
      if (!scalars.has(def.type)) throw new Error(`The walk does not know ${def.type} at ${path}`);
  }
}

const forms = new Map(endpoints.map(({ path, input }) => [path, [...objects(input, '')]]));
const lastNames = (form: string) =>
  [
    ...new Set(
      [...forms].flatMap(([path, found]) =>
        found
          .filter(([, itsForm]) => itsForm === form)
          .map(([at]) => at.replaceAll('[]', '').split('.').at(-1) || path),
      ),
    ),
  ].toSorted();

/** The blocks of an agent, which are stored and returned as they were sent. */
const agentBlocks =
  'analytics annotations auth computed-styles contextGathering crossPage deletePreviousSuggestions endpoints execution guardrails input inputRequirements lighthouse matchAndMerge pinResolution postProcess response responseDescriptions rest-api scope setup sitemap-data stagehand-agent strategyOptions userContextFields web-page-css web-page-html web-page-screenshot web-page-text'.split(
    ' ',
  );
/** Users: further fields are ignored. */
const users = 'actionUser assignedTo from newUser notifyUsers oldUser subscribedUsers to unsubscribedUsers users'.split(
  ' ',
);
/** Objects and values that customers shape. */
const shapedByCustomers =
  'access actions agent attachments changes checklistOrigin context customList data displayBodyMessageTemplateData displayHeadlineMessageTemplateData displayMessageTemplateData entityData entityTargetData headers location metadata newLocation notificationSourceData oldLocation pageInfo pages priority progress query body recordedTime setupSamples status suggestion taggedUserContacts targetElement transcription value'.split(
    ' ',
  );
/** Fields that are declared as ignored. */
const ignored = 'created customPlanInfo customPlanInfoData isSuperWorkspace planInfo platform workspaceId'.split(' ');
/** Fields that are refused with a text of their own. */
const refused = 'context disabled id'.split(' ');

describe('the objects of all requests', () => {
  test('refuse unknown fields, except the declared open ones', () => {
    const topLevels = ['/v2/agents/create', '/v2/agents/version/update'];
    expect(lastNames('open')).toEqual([...topLevels, ...agentBlocks, ...users, 'config', 'organizations'].toSorted());
  });

  test('are free only where a customer shapes them', () => {
    expect(lastNames('free')).toEqual([...new Set([...shapedByCustomers, ...ignored, ...refused])].toSorted());
  });

  test('are all known to the search for unknown fields', () => {
    for (const { path, input } of endpoints) {
      const closed = (forms.get(path) ?? []).filter(([, form]) => form === 'closed').map(([at]) => at);
      expect([path, new Set(treeObjects(fieldTree(input), ''))]).toEqual([path, new Set(closed)]);
    }
  });
});

/** Yields the path of each object of a tree that refuses unknown fields. */
function* treeObjects(tree: FieldTree | undefined, path: string): Generator<string> {
  if (tree?.kind === 'list') yield* treeObjects(tree.item(), `${path}[]`);
  if (tree?.kind === 'record') yield* treeObjects(tree.value(), `${path}.*`);
  if (tree?.kind === 'union') for (const option of tree.options) yield* treeObjects(option(), path);
  if (tree?.kind !== 'object') return;
  if (!tree.allows('x-other')) yield path;
  for (const [name, field] of tree.fields) yield* treeObjects(field(), path === '' ? name : `${path}.${name}`);
}

type Path = readonly (string | number)[];

/** Returns the path of each object in an example that refuses unknown fields. */
function closedObjects(tree: FieldTree | undefined, value: unknown, path: Path = []): Path[] {
  if (tree?.kind === 'list' && Array.isArray(value))
    return value.flatMap((item, index) => closedObjects(tree.item(), item, [...path, index]));
  if (tree?.kind !== 'object' || !isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, field]) =>
    closedObjects(tree.fields.get(name)?.(), field, [...path, name]),
  );
  return tree.allows('x-other') ? inside : [path, ...inside];
}

/** Returns a copy of a JSON value, changed at a path. */
function changedAt(value: unknown, path: Path, change: (object: Record<string, unknown>) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(value as Record<string, unknown>);
  if (Array.isArray(value)) return value.with(first as number, changedAt(value[first as number], rest, change));
  return { ...(value as object), [first]: changedAt((value as Record<string, unknown>)[first], rest, change) };
}

const firstIssue = (path: string, data: unknown): Issue | undefined => requestIssues(inputOf(path), data)[0];

describe('the documented fields', () => {
  test.each(Object.entries(documentedFields))('of %s are all known', (path, fields) => {
    expect(unknownFields(inputOf(path), sampleOf(fields))).toEqual([]);
  });

  test('cover every endpoint of the documentation that takes parameters', () => {
    const own = endpoints.filter(({ path, twinOf, input }) => {
      const tree = fieldTree(input);
      return twinOf === undefined && !(path in documentedFields) && tree?.kind === 'object' && tree.fields.size > 0;
    });
    expect(own.map(({ path }) => path).toSorted()).toEqual([
      '/v2/commentannotations/views/add',
      '/v2/crdt/updates/get',
      '/v2/crdt/updates/push',
      ...['add', 'compare', 'delete', 'get', 'restore', 'update'].map((name) => `/v2/crdt/versions/${name}`),
      '/v2/live/changes',
      '/v2/live/connect',
      '/v2/livestate/get',
      '/v2/notifications/count/get',
      '/v2/organizations/usergroups/get',
      '/v2/presence/get',
      '/v2/workspace/chatconfig/update',
    ]);
  });

  test('of an endpoint are known to its twin in the other version', () => {
    for (const { path, twinOf, input } of endpoints)
      if (twinOf !== undefined)
        expect([path, unknownFields(input, sampleOf(documentedFields[twinOf] ?? ''))]).toEqual([path, []]);
  });
});

describe('a documented request', () => {
  const places = endpoints.flatMap(({ path, input, example }) =>
    closedObjects(fieldTree(input), example.data).map((at) => ({ path, at, data: example.data })),
  );

  test('is accepted', () => {
    for (const { path, input, example } of endpoints)
      expect([path, unknownFields(input, example.data)]).toEqual([path, []]);
    expect(places.length).toBeGreaterThan(endpoints.length);
  });

  test('with one more key in any closed object is refused with the path of the key', () => {
    const key = fc.oneof(
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.constantFrom('__proto__', 'constructor', 'toString'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), key, ({ path, at, data }, name) => {
        const tree = at.reduce<FieldTree | undefined>(
          (found, part) =>
            found?.kind === 'list'
              ? found.item()
              : found?.kind === 'object'
                ? found.fields.get(String(part))?.()
                : undefined,
          fieldTree(inputOf(path)),
        );
        fc.pre(tree?.kind === 'object' && !tree.fields.has(name) && !tree.allows(name));
        fc.pre(name.isWellFormed() && !/\p{Cc}/u.test(name));
        const more = JSON.parse(`{${JSON.stringify(name)}:null}`) as object;
        const sent = changedAt(
          data,
          at,
          (object) => Object.assign(Object.create(null), { ...object, ...more }) as object,
        );
        expect(firstIssue(path, sent)).toMatchObject({ path: [...at, name], code: 'unrecognized_keys' });
      }),
      { numRuns: 2_000 },
    );
  });

  test('with a key in another case is refused, and the message names the key that was meant', () => {
    for (const { path, at, data } of places) {
      const object = at.reduce<unknown>((found, part) => (found as Record<string, unknown>)[part], data) as object;
      const name = Object.keys(object).find((key) => key !== key.toUpperCase());
      if (name === undefined) continue;
      const wrong = name.toUpperCase();
      const sent = changedAt(data, at, ({ [name]: value, ...others }) => ({ [wrong]: value, ...others }));
      const message = `${fieldName([...at, wrong])}: unknown field. Did you mean ${fieldName([...at, name])}?`;
      expect(firstIssue(path, sent)).toMatchObject({ path: [...at, wrong], message });
    }
  });
});
