import { describe, expect, test } from '@jest/globals';
import { registeredEndpoints } from '../../../infra/build/registry.ts';
import { type JsonSchema, jsonSchemaOf } from '../../../lib/openapi/jsonSchema.ts';

type Results = Record<string, { success: boolean }>;
interface Answer {
  data: Results;
}

/** Whether an answer has a map or a list of items, each with a field `success`. */
function hasItemResults(answer: JsonSchema): boolean {
  const json = JSON.stringify((answer as { properties?: { data?: object } }).properties?.data ?? {});
  return /"(additionalProperties|items)":\{.*"success":\{"type":"boolean"/.test(json);
}

const batchCalls = registeredEndpoints()
  .filter(({ output }) => hasItemResults(jsonSchemaOf(output)))
  .map((endpoint) => [endpoint.path, endpoint] as const);

/** The answer of the example with these outcomes, one for each item. */
function answerWith(example: Answer, outcomes: readonly boolean[]): Answer {
  const [item] = Object.values(example.data);
  return {
    ...example,
    data: Object.fromEntries(outcomes.map((success, index) => [index, { ...item, success }])),
  };
}

test('the registry has batch calls of all families with lists of items', () => {
  const families = batchCalls.map(([path]) => path.split('/')[2]);
  expect([...new Set(families)].sort()).toEqual([
    'activities',
    'commentannotations',
    'crdt',
    'memory',
    'notifications',
    'organizations',
    'reactions',
    'recordings',
    'users',
  ]);
});

describe.each(batchCalls)('the message of %s', (_path, { message, example }) => {
  const { data, result } = example as { data: object; result: Answer };
  const messageOf = (outcomes: readonly boolean[]) =>
    typeof message === 'function'
      ? message(answerWith(result, outcomes) as never, data as never)
      : `${message} for any outcome`;

  test('says that no item succeeded if every item failed', () => {
    expect(messageOf([false, false])).toMatch(/^No [a-zCRDT ]+ was [a-z ]+\.$/);
  });

  test('is the message of a success if an item succeeded, or if there are no items', () => {
    expect([messageOf([false, true]), messageOf([])]).toEqual([messageOf([true]), messageOf([true])]);
    expect(messageOf([true])).not.toMatch(/^No /);
  });
});

test('a deletion of which every item failed says that more items remain', () => {
  const [, { message, example }] = batchCalls.find(([path]) => path === '/v2/notifications/delete')!;
  const answer = { ...answerWith(example.result as Answer, [false]), hasMore: true };
  expect((message as (output: Answer, input: unknown) => string)(answer, example.data)).toBe(
    'No notification was deleted. There are more: send the request again.',
  );
});
