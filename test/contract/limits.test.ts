import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { fieldName } from '../../lib/shared/errors.ts';
import { requestIssues } from '../support/requestIssues.ts';
import { type Bound, boundsOf, limitsOf } from './bounds.ts';
import { endpoints } from './cases.ts';
import { documentedData, openApi } from './contract.ts';
import { choicesOf, exclusionsOf, type Field, fieldsOf, optionsOf, typesOf } from './fields.ts';

/** Messages of other rules, which a text without a form of its own, or a field without others, breaks too. */
const otherRules =
  /must (be (an e-mail address|a domain|base64|one of text\/csv|an RSA|a valid http|present if|given together|the bot token)|have an http|not be given|map each field|name each provider)/;

/** Fields with a message of their own. */
const ownMessages = /^(event|(events|filterTypes)\[0\]|isServerIds)$/;

/** Fields of which another alternative takes what is beyond the limit. */
const alternatives = /\.status\.type$/;

/** Returns what is wrong with the answers to a value at a limit and a value beyond it. */
function faultsOf({ input }: Endpoint, { at, requests, types }: Field, { refusal, within, beyond }: Bound): unknown[] {
  const name = fieldName(at);
  const refusalsOf = (data: object) =>
    requestIssues(input, data).flatMap(({ path, message }) => (fieldName(path) === name ? [message] : []));
  const accepting = requests.find((request) => refusalsOf(request(within)).length === 0);
  const request = accepting ?? requests[0]!;
  const early = accepting ? [] : refusalsOf(request(within));
  const refusals = requestIssues(input, request(beyond)).map(({ message }) => message);
  // A value of several types has one message for all. The object around a free object can have the same limit.
  const isMixed =
    ownMessages.test(name) || (types !== undefined && [...types].filter((type) => type !== 'null').length > 1);
  const parents = / as JSON$|levels deep$/.test(refusal) ? at.map((_part, index) => fieldName(at.slice(0, index))) : [];
  const expected = [name, ...parents].map((parent) => `${parent} ${isMixed ? '' : refusal}`);
  const isRefused = refusals.some((text) => expected.some((start) => text.startsWith(start)));
  return [
    ...(!accepting && early.every((text) => text.startsWith(`${name} ${refusal}`) || !otherRules.test(text))
      ? [[name, refusal, 'at the limit', early]]
      : []),
    ...(isRefused || alternatives.test(name) ? [] : [[name, refusal, 'beyond the limit', refusals]]),
  ];
}

describe('the limits of each field', () => {
  test.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
    '%s takes values at them and refuses values beyond them with the name of the field',
    (_path, endpoint) => {
      const faults = fieldsOf(endpoint).flatMap((field) =>
        [...boundsOf(field.schema)].flatMap((bound) => faultsOf(endpoint, field, bound)),
      );
      expect(faults).toEqual([]);
    },
  );
});

/** Returns a text for the type, limits and rules of each field of a schema, but not of the components that it names. */
function pinOf(
  schema: JsonSchema,
  name = '',
  pins: Record<string, string> = {},
  isRequired = false,
): Record<string, string> {
  const limits = Object.entries(limitsOf(schema)).map(([keyword, value]) => `${keyword} ${[value].flat().join(' ')}`);
  const types = typesOf(schema);
  if (types.length > 0) limits.unshift(types.join(' '));
  if (isRequired) limits.unshift('required');
  limits.push(
    ...exclusionsOf(schema).map(({ field, others }) => `${field} without ${others.join(' ')}`),
    ...choicesOf(schema).map(({ names, isExclusive }) => `${isExclusive ? 'one' : 'any'} of ${names.join(' ')}`),
  );
  if (limits.length > 0)
    pins[name] = [...(pins[name] === undefined ? [] : [pins[name]]), limits.join(', ')].join(' or ');
  const { properties = {}, required = [], items, additionalProperties } = schema;
  for (const [key, field] of Object.entries(properties))
    pinOf(field as JsonSchema, name === '' ? key : `${name}.${key}`, pins, required.includes(key));
  if (items) pinOf(items as JsonSchema, `${name}[]`, pins);
  if (typeof additionalProperties === 'object') pinOf(additionalProperties, `${name}.*`, pins);
  for (const option of optionsOf(schema)) if (option !== schema) pinOf(option, name, pins);
  return pins;
}

test('limits.json has the required fields, types, limits and rules of each request, except of a twin that has the same', () => {
  const file = join(import.meta.dirname, 'limits.json');
  const { components } = openApi;
  const used = new Set<string>();
  const addUsed = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      addUsed(components.schemas[name]);
    }
  };
  const ofPath = (path: string) => pinOf(documentedData(path));
  const own = endpoints.filter(({ path, twinOf }) => {
    addUsed(documentedData(path));
    return twinOf === undefined || JSON.stringify(ofPath(path)) !== JSON.stringify(ofPath(twinOf));
  });
  const current = Object.fromEntries([
    ...own.map(({ path }) => [path, ofPath(path)] as const),
    ...[...used].toSorted().map((name) => [name, pinOf(components.schemas[name] as JsonSchema)] as const),
  ]);
  // After a change of a limit, update the file with: UPDATE_PINS=1 npm test -- test/contract/limits
  if (process.env.UPDATE_PINS) writeFileSync(file, `${JSON.stringify(current, undefined, 2)}\n`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(current);
});
