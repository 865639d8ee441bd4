import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { apiCredentials } from '../../../infra/commands/apiCredentials.ts';
import { loadOptions } from '../../../infra/commands/load/options.ts';
import {
  documentsFor,
  inProportion,
  percentile,
  plannedStarts,
  reportsOf,
} from '../../../infra/commands/load/rules.ts';
import { MAX_COMMENTS } from '../../../lib/comments/rules/comments.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

describe('plannedStarts', () => {
  test('spreads the calls evenly over the duration', () => {
    expect(plannedStarts(4, 0.025)).toEqual([0, 250, 500, 750, 1_000, 1_250]);
  });

  test('plans at least one call', () => {
    expect(plannedStarts(1, 0.001)).toEqual([0]);
  });
});

describe('inProportion', () => {
  const items = fc.array(
    fc.integer({ min: 1, max: 9 }).map((weight) => ({ weight })),
    { minLength: 1, maxLength: 6 },
  );

  testProperty(
    'uses each item in proportion to its weight, in a list of any length',
    [items, fc.integer({ min: 1, max: 200 })],
    (weighted, count) => {
      const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
      const chosen = inProportion(weighted, count);
      expect(chosen).toHaveLength(count);
      for (const item of weighted) {
        const uses = chosen.filter((chosenItem) => chosenItem === item).length;
        expect(Math.abs(uses - (count * item.weight) / total)).toBeLessThan(weighted.length);
      }
    },
  );

  test('spreads the uses of each item over the list', () => {
    const [often, seldom] = [{ weight: 2 }, { weight: 1 }];
    expect(inProportion([often, seldom], 6)).toEqual([often, seldom, often, often, seldom, often]);
  });
});

describe('documentsFor', () => {
  test.each([
    [0, 10],
    [200, 10],
    [201, 11],
    [540_000, 1_000],
  ])('returns for %d comments %d documents, so that threads stay short', (comments, documents) => {
    expect(documentsFor(comments)).toBe(documents);
  });

  test('plans enough documents that no thread reaches its comment limit in the longest run', () => {
    const comments = 1_000 * 60 * 60 * (3 / 20);
    expect(comments / documentsFor(comments)).toBeLessThan(MAX_COMMENTS - 1);
  });
});

describe('percentile', () => {
  test.each([
    [50, 50],
    [99, 99],
    [100, 100],
    [0.1, 1],
  ])('returns the nearest rank of %d %%', (percent, expected) => {
    expect(
      percentile(
        times(100, (index) => 100 - index),
        percent,
      ),
    ).toBe(expected);
  });
});

describe('reportsOf', () => {
  test('counts calls and errors by endpoint, and includes failed calls in the latencies', () => {
    const call = (path: string, milliseconds: number, error?: string) => ({ path, milliseconds, error });
    expect(
      reportsOf([call('/b', 5), call('/a', 1), call('/b', 900, 'UNAVAILABLE'), call('/b', 7, 'UNAVAILABLE')]),
    ).toEqual([
      { path: '/a', calls: 1, errors: {}, p50: 1, p99: 1 },
      { path: '/b', calls: 3, errors: { UNAVAILABLE: 2 }, p50: 7, p99: 900 },
    ]);
  });
});

describe('loadOptions', () => {
  test('returns defaults', () => {
    expect(loadOptions(['https://api.example.com'])).toEqual({
      baseUrl: 'https://api.example.com',
      credentialsFile: undefined,
      perSecond: 20,
      minutes: 1,
      serviceName: 'svc',
    });
  });

  test('takes the name of the service from --service-name', () => {
    expect(loadOptions(['https://api.example.com', '--service-name', 'review'])).toMatchObject({
      serviceName: 'review',
    });
  });

  test.each([
    [[], 'Give the address of the API'],
    [['api.example.com'], 'Give the address of the API'],
    [['https://a.example', 'https://b.example'], 'Give the address of the API'],
    [['https://a.example', '--rps', '0'], '--rps must be a number above 0, up to 1000'],
    [['https://a.example', '--rps', '1001'], '--rps must be a number above 0, up to 1000'],
    [['https://a.example', '--minutes', 'x'], '--minutes must be a number above 0, up to 60'],
    [['https://a.example', '--minute', '1'], "Unknown option '--minute'"],
  ])('refuses %j', (args, problem) => {
    expect(() => loadOptions(args)).toThrow(problem);
  });
});

describe('apiCredentials', () => {
  const dir = temporaryFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const stored = { apiKey: 'k', authToken: 't', workspaceId: 'w', workspaceAuthToken: 's' };
  const env = { API_KEY: 'k2', AUTH_TOKEN: 't2', WORKSPACE_ID: 'w2', WORKSPACE_AUTH_TOKEN: 's2' };

  test('reads the given file, even if the environment has credentials', async () => {
    const path = file('given.json', JSON.stringify({ ...stored, baseUrl: 'http://127.0.0.1' }));
    expect(await apiCredentials(path, env)).toEqual(stored);
  });

  test('reads the environment if all four variables are set, else the file in DATA_DIR', async () => {
    file('credentials.json', JSON.stringify(stored));
    expect(await apiCredentials(undefined, { ...env, DATA_DIR: dir })).toEqual({
      apiKey: 'k2',
      authToken: 't2',
      workspaceId: 'w2',
      workspaceAuthToken: 's2',
    });
    expect(await apiCredentials(undefined, { ...env, API_KEY: '', DATA_DIR: dir })).toEqual(stored);
  });

  test.each([
    ['absent.json', undefined, 'cannot be read'],
    ['text.json', 'secret-token', 'is not JSON'],
    ['part.json', '{"apiKey":"secret-token","authToken":"t"}', 'has no workspaceId, workspaceAuthToken'],
  ])('names the problem of %s without its contents', async (name, text, problem) => {
    const path = text === undefined ? join(dir, name) : file(name, text);
    const error = await apiCredentials(path, env).catch(String);
    expect(error).toContain(problem);
    expect(error).not.toContain('secret-token');
  });
});
