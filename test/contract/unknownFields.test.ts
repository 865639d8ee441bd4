import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isObject } from '../../lib/shared/collections.ts';
import { fieldName, type Issue } from '../../lib/shared/errors.ts';
import { type FieldTree, fieldTree, unknownFields } from '../../lib/shared/unknownFields.ts';
import { requestIssues } from '../support/requestIssues.ts';
import { endpoints } from './cases.ts';
import { dataSchema } from './contract.ts';
import { documentedFields, sampleOf } from './documentedFields.ts';
import { fieldsOf } from './fields.ts';

const inputOf = (path: string) => endpoints.find((endpoint) => endpoint.path === path)!.input;

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
  'access actions agent attachments changes checklistOrigin contact customList data displayBodyMessageTemplateData displayHeadlineMessageTemplateData displayMessageTemplateData entityData entityTargetData headers location metadata newLocation notificationSourceData oldLocation pageInfo pages priority progress query body reason recordedTime setupSamples status steps suggestion taggedUserContacts targetElement transcription value version'.split(
    ' ',
  );
/** Fields that are declared as ignored. */
const ignored = 'created customPlanInfo customPlanInfoData isSuperWorkspace planInfo platform workspaceId'.split(' ');
test('the objects of all requests refuse unknown fields, except these', () => {
  const free = endpoints.flatMap((endpoint) => [
    ...fieldsOf(endpoint)
      .filter(({ isClosed, types }) => types === undefined || (types.has('object') && !isClosed))
      .map(({ at }) => at.findLast((part) => typeof part === 'string')!),
    ...(dataSchema(endpoint.path).additionalProperties === false ? [] : [endpoint.path]),
  ]);
  const others = ['/v2/agents/create', '/v2/agents/version/update', 'config', 'organizations'];
  const expected = [...agentBlocks, ...users, ...shapedByCustomers, ...ignored, ...others];
  expect([...new Set(free)].toSorted()).toEqual(expected.toSorted());
});

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
