import { describe, expect, test } from '@jest/globals';
import { commonFields } from '../../lib/openapi/commonFields.ts';
import type { JsonSchema } from '../../lib/openapi/jsonSchema.ts';
import { webhooks } from '../../lib/openapi/webhooks.ts';
import { documentOf } from '../support/documented.ts';
import { endpoints } from './cases.ts';

const openApi = documentOf(endpoints, webhooks);

/** A field of a request, an answer or an event: where it is, its name, and its text with that of the component that it refers to. */
interface Field {
  readonly at: string;
  readonly name: string;
  readonly text: string;
}

const component = ({ $ref = '' }: JsonSchema): JsonSchema | undefined =>
  openApi.components.schemas[$ref.slice('#/components/schemas/'.length)];

/** The texts that schemas of many fields have. They say nothing about a single field. */
const rules = /At most \d+ bytes (of UTF-8|as JSON)\.|^Any JSON value$/g;

/** Returns the text of a schema, or that of the component which it or its items refer to, without the limits that follow it. */
function textOf(schema: JsonSchema): string {
  const { items } = schema;
  const shared = component(schema) ?? (typeof items === 'object' ? component(items as JsonSchema) : undefined);
  const text = schema.description ?? shared?.description ?? '';
  return text.replaceAll(rules, '').trim();
}

function* fieldsOf(schema: JsonSchema, at: string): Generator<Field> {
  for (const [name, field] of Object.entries(schema.properties ?? {}) as [string, JsonSchema][]) {
    yield { at: `${at} ${name}`, name, text: textOf(field) };
    yield* fieldsOf(field, `${at} ${name}`);
  }
  const { items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  for (const part of [items, additionalProperties, ...anyOf, ...oneOf, ...allOf])
    if (typeof part === 'object') yield* fieldsOf(part as JsonSchema, at);
}

const operations = Object.entries(openApi.paths).map(([path, { post }]) => ({ path, ...post }));
const schemaOf = (content: { readonly 'application/json': { readonly schema: JsonSchema } } | undefined) =>
  content?.['application/json'].schema ?? {};

const requestFields = operations.flatMap(({ path, requestBody }) => [
  ...fieldsOf(schemaOf(requestBody.content), `request of ${path}:`),
]);
const answerFields = operations.flatMap(({ path, responses }) => {
  const answer = responses[200];
  return answer && 'content' in answer ? [...fieldsOf(schemaOf(answer.content), `answer of ${path}:`)] : [];
});
const componentFields = Object.entries(openApi.components.schemas).flatMap(([name, schema]) => [
  ...fieldsOf(schema, `component ${name}:`),
]);
const fillers = new Set(
  'a an and are as be by for from has id ids if in is it its of on or that the this to which with your'.split(' '),
);

/** Returns the words of a text or of a name in camel case, without words that say nothing. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/s$/, ''))
    .filter((word) => word !== '' && !fillers.has(word));
}

/** Returns whether a text has no word besides those of the name. */
function repeatsName({ name, text }: Field): boolean {
  const ofName = new Set(wordsOf(name));
  return wordsOf(text).every((word) => ofName.has(word));
}

describe('the reference', () => {
  test('says about each operation what its summary does not say', () => {
    expect(operations.filter(({ description = '' }) => description.length < 40).map(({ path }) => path)).toEqual([]);
    expect(
      operations.filter(({ summary, description = '' }) => description.includes(summary)).map(({ path }) => path),
    ).toEqual([]);
  });

  test('has a text for each event, that names what causes it and who gets it', () => {
    const sent = Object.entries(openApi.webhooks).map(([name, { post }]) => ({ name, ...post }));
    expect(sent.filter(({ description }) => description.length < 20).map(({ name }) => name)).toEqual([]);
    expect(
      sent.filter((post) => repeatsName({ at: '', name: post.name, text: post.summary })).map(({ name }) => name),
    ).toEqual([]);
  });

  test('has a text for each field of each request', () => {
    expect(requestFields.filter(({ text }) => text === '').map(({ at }) => at)).toEqual([]);
  });

  test('has a text for each component and each of its fields', () => {
    expect(
      Object.entries(openApi.components.schemas)
        .filter(([, { description }]) => !description)
        .map(([name]) => name),
    ).toEqual([]);
    expect(componentFields.filter(({ text }) => text === '').map(({ at }) => at)).toEqual([]);
  });

  test('has no text that repeats the name of its field', () => {
    expect(
      [...requestFields, ...componentFields]
        .filter((field) => field.text !== '' && repeatsName(field))
        .map(({ at, text }) => `${at}: ${text}`),
    ).toEqual([]);
    expect(Object.entries(commonFields).filter(([name, text]) => repeatsName({ at: '', name, text }))).toEqual([]);
  });

  test('has no common text that no field needs', () => {
    const used = new Set(
      [...requestFields, ...answerFields, ...componentFields]
        .filter(({ name, text }) => commonFields[name] === text)
        .map(({ name }) => name),
    );
    expect(Object.keys(commonFields).filter((name) => !used.has(name))).toEqual([]);
  });
});
