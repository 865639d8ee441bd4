import { expect, test } from '@jest/globals';
import * as registry from '../../../functions/index.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { isRateLimited } from '../../../lib/http/capabilities.ts';
import { jsonSchemaOf } from '../../../lib/openapi/jsonSchema.ts';

/** Writes whose lists do not multiply, by the reason. */
const exceptions: Readonly<Record<string, string>> = {
  '/v2/users/data/delete': 'starts one job',
  '/v2/workspace/advancedwebhook/endpoints/create': 'writes one endpoint',
  '/v2/workspace/advancedwebhook/endpoints/update': 'writes one endpoint',
};

test('a write with two lists in its data declares its work, because it can write an item for each pair', () => {
  const writes = Object.values(registry as unknown as Record<string, Endpoint>).filter(
    (endpoint) => endpoint.kind === 'write' && isRateLimited(endpoint) && !endpoint.work,
  );
  const withTwoLists = writes
    .filter(({ twinOf }) => twinOf === undefined)
    .filter(({ input }) => {
      const fields = Object.values(jsonSchemaOf(input).properties ?? {});
      return fields.filter((field) => typeof field === 'object' && [field.type].flat().includes('array')).length > 1;
    })
    .map(({ path }) => path);
  expect(withTwoLists.filter((path) => !(path in exceptions))).toEqual([]);
  expect(withTwoLists.filter((path) => path in exceptions)).toEqual(Object.keys(exceptions));
});
