import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { fieldName } from '../../lib/shared/errors.ts';
import { requestIssues } from '../support/requestIssues.ts';
import { endpoints } from './cases.ts';
import { dataSchema } from './contract.ts';
import { choicesOf, exclusionsOf, type Field, fieldsOf, smallest, smallestObject } from './fields.ts';

const values: Readonly<Record<string, unknown>> = { object: {}, array: [], string: '1', boolean: true, number: 1.5 };

const nouns: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  boolean: 'a boolean',
  number: 'a number',
  integer: 'a number',
};

/** Fields that differ: one of a named status, an empty setting, which switches it off, and one of the deployment. */
const others = /(\.status\.type|^editorVersions|^svcAllOrganizations)$/;

/** Returns the values of a field that are refused or accepted against its schema. */
function faultsOf(
  { input }: Endpoint,
  { at, schema, types, isRequired, isClosed, requests, without }: Field,
): unknown[] {
  const name = fieldName(at);
  const refusals = (data: unknown) =>
    requestIssues(input, data).flatMap(({ path, message }) => (fieldName(path) === name ? [message] : []));
  const isRefused = (texts: readonly string[], message = 'must ') =>
    texts.some((text) => text.startsWith(`${name} ${message}`));
  const [type = '', ...otherTypes] = [...(types ?? [])].filter((each) => each !== 'null');
  const isPlain = otherTypes.length === 0 && schema.enum === undefined && !('const' in schema);
  const nounFor = (value: unknown) => {
    if (!isPlain) return '';
    return type === 'integer' && value === 1.5 ? 'be an integer' : `be ${nouns[type]}`;
  };
  // Of the requests, the one beside as little as possible.
  const alone = requests.at(-1)!;
  const isField = typeof at.at(-1) === 'string' && at.at(-1) !== 'key';
  const missing = isField ? without.map((make) => refusals(make())) : [];
  const nulls = requests.map((request) => refusals(request(null)));
  const wrongTypes = Object.entries(values).filter(([name]) => types && !types.has(name));
  const more = { ...(smallest(schema) as object), unexpectedThing: null };
  const unknown = isClosed ? [requestIssues(input, alone(more))[0]?.message] : [];
  return [
    ...wrongTypes.filter(([, value]) => !isRefused(refusals(alone(value)), `must ${nounFor(value)}`)),
    ...(isRequired && !missing.every((texts) => isRefused(texts, 'is required')) ? ['missing'] : []),
    ...(isRequired &&
    types &&
    !types.has('null') &&
    !nulls.every((texts) => isRefused(texts) || isRefused(texts, 'is required'))
      ? ['null']
      : []),
    ...(!isRequired && isField && JSON.stringify(nulls) !== JSON.stringify(missing) ? ['null, unlike missing'] : []),
    ...unknown.filter((message) => message !== `${name}.unexpectedThing: unknown field.`),
  ].map((fault) => [name, fault]);
}

describe('each field of a request, at any depth,', () => {
  test.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
    '%s is refused with its name if it has a wrong type, is unknown, or is missing or null although it is required',
    (_path, endpoint) => {
      const fields = fieldsOf(endpoint).filter(({ at }) => !others.test(fieldName(at)));
      expect(fields.flatMap((field) => faultsOf(endpoint, field))).toEqual([]);
    },
  );
});

/** Returns the rules between fields that a request breaks without a refusal. */
function brokenRules({ input }: Endpoint, schema: JsonSchema, request: (value: unknown) => unknown): unknown[] {
  const { properties = {} } = schema;
  const valueOf = (name: string) => [name, smallest(properties[name] as JsonSchema)] as const;
  const withFields = (...names: string[]) => ({ ...smallestObject(schema), ...Object.fromEntries(names.map(valueOf)) });
  const isTaken = (value: object) => requestIssues(input, request(value)).length === 0;
  const issuesOf = (...names: string[]) => requestIssues(input, request(withFields(...names)));
  return [
    ...exclusionsOf(schema).flatMap(({ field, message, others }) =>
      others
        .filter((other) => field in properties && other in properties)
        .filter(
          (other) => !issuesOf(field, other).some((issue) => issue.message === `${fieldName(issue.path)} ${message}`),
        ),
    ),
    ...choicesOf(schema).flatMap(({ names, isExclusive }) => {
      const none = Object.entries(smallestObject(schema)).filter(([name]) => !names.includes(name));
      return [
        ...(isTaken(Object.fromEntries(none)) ? [['none of', names]] : []),
        ...(isExclusive && isTaken(withFields(...names)) ? [['all of', names]] : []),
      ];
    }),
  ];
}

test.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
  '%s refuses requests against the rules between fields that its reference has',
  (path, endpoint) => {
    const broken = [
      ...brokenRules(endpoint, dataSchema(path), (value) => value),
      ...fieldsOf(endpoint).flatMap(({ schema, requests }) =>
        requests.flatMap((request) => brokenRules(endpoint, schema, request)),
      ),
    ];
    expect(broken).toEqual([]);
  },
);
