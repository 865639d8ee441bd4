import { describe, expect, test } from '@jest/globals';
import { toRequestBody } from '../../../lib/table/attributeValues.ts';

describe('toRequestBody', () => {
  test.each([
    [0.1, '0.1'],
    [1e-130, '1e-130'],
    [1e-131, '0'],
    [-5e-324, '0'],
  ])('writes %d as a number that DynamoDB stores', (number, N) => {
    expect(JSON.parse(toRequestBody({ Item: { number } }))).toEqual({ Item: { number: { N } } });
  });
});
