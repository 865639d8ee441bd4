import { describe, expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApi } from './contract.ts';

/** Rules that are off, each with its reason. */
const off = {
  // The service is nobody's to use under a licence: package.json says UNLICENSED.
  'info-license': 'off',
} as const;

/** What the linter has against a document; it reads nothing but what it is given. */
async function findings(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: off });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(({ severity, ruleId, message, location: [at] }) => `${severity} ${ruleId} ${at?.pointer}: ${message}`);
}

describe('the OpenAPI document, linted by Redocly\'s recommended rules,', () => {
  test('is clean', async () => {
    expect(await findings(openApi)).toEqual([]);
  });

  test('would be found out', async () => {
    const [path = ''] = Object.keys(openApi.paths);
    const { operationId: _, ...post } = openApi.paths[path]!.post;
    expect((await findings({ ...openApi, webhooks: {}, servers: [], paths: { [path]: { post } } })).map((finding) => finding.split(' ')[1])).toEqual(expect.arrayContaining(['operation-operationId', 'no-empty-servers']));
  });
});
