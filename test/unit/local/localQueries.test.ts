import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { fill, type LogLine, placeholdersOf, readQuery } from '../../../infra/local/assembly/queries/readQuery.ts';
import { savedQueriesOf } from '../../../infra/local/assembly/queries/savedQueries.ts';
import { runQuery } from '../../../infra/local/queries/runQuery.ts';
import { runSavedQuery } from '../../../infra/local/queries/runSavedQuery.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const run = (text: string, lines: readonly LogLine[]) => runQuery(readQuery(text), lines);
const rows = (text: string, lines: readonly LogLine[]) => run(text, lines).rows;
const folder = temporaryFolder();

describe('a query', () => {
  const lines = [
    { '@timestamp': 1_000, level: 'INFO', status: 200, endpoint: 'a', error: undefined },
    { '@timestamp': 2_000, level: 'ERROR', status: 503, endpoint: 'a', error: { name: 'Timeout', of: ['x'] } },
    { '@timestamp': 3_000, level: 'ERROR', status: '500', endpoint: 'b', 'error.name': 'Flat' },
    { '@timestamp': 4_000, level: 'WARN', endpoint: 'b' },
  ];

  test('shows fields of the newest lines first, dotted fields of objects, and times in ISO 8601', () => {
    expect(run('fields @timestamp, endpoint, error.name', lines)).toEqual({
      columns: ['@timestamp', 'endpoint', 'error.name'],
      rows: [
        ['1970-01-01T00:00:04.000Z', 'b', null],
        ['1970-01-01T00:00:03.000Z', 'b', 'Flat'],
        ['1970-01-01T00:00:02.000Z', 'a', 'Timeout'],
        ['1970-01-01T00:00:01.000Z', 'a', null],
      ],
    });
    expect(rows('fields error.of | filter status = 503', lines)).toEqual([['["x"]']]);
  });

  test.each([
    ['status >= 500', 2],
    ['status > 500', 1],
    ['status < 500', 1],
    ['status <= 500', 2],
    ['status != 200', 2],
    ['status = "500"', 1],
    ['level = "ERROR"', 2],
    ['level = "error"', 0],
    ['level != "ERROR"', 2],
    ['level > "A"', 0],
    ['missing != "x"', 0],
    ['level in ["INFO", "WARN"]', 2],
    ['ispresent(status)', 3],
    ['level = "INFO" or level = "WARN" and endpoint = "a"', 1],
    ['(level = "INFO" or level = "WARN") and endpoint = "b"', 1],
  ])('with the filter %s finds %d lines', (condition, count) => {
    expect(rows(`fields level | filter ${condition}`, lines)).toHaveLength(count);
  });

  test('computes statistics of groups', () => {
    expect(
      run(
        'stats count(*) as lines, count(status) as statuses, count_distinct(level) as levels, min(@timestamp) as first, max(status) as worst by endpoint | sort lines asc',
        lines,
      ),
    ).toEqual({
      columns: ['endpoint', 'lines', 'statuses', 'levels', 'first', 'worst'],
      rows: [
        ['a', 2, 2, 2, '1970-01-01T00:00:01.000Z', 503],
        ['b', 2, 1, 2, '1970-01-01T00:00:03.000Z', 500],
      ],
    });
    expect(rows('stats count(*) as lines', [])).toEqual([]);
    expect(rows('stats max(missing) as most', lines)).toEqual([[null]]);
  });

  test('computes percentiles as the value that at least this share does not exceed', () => {
    const durations = Array.from({ length: 200 }, (_each, index) => ({ ms: String(index + 1) }));
    expect(rows('stats pct(ms, 50) as p50, pct(ms, 99) as p99, pct(ms, 0) as p0', durations)).toEqual([[100, 198, 1]]);
  });

  test('sorts numbers as numbers, texts as texts, and missing values last', () => {
    const values = [{ v: '9' }, { v: 10 }, {}, { v: 'b' }, { v: 'a' }];
    const of = (...these: number[]) => these.map((index) => values[index]!);
    expect(rows('fields v | sort v asc', of(1, 0, 2))).toEqual([['9'], [10], [null]]);
    expect(rows('fields v | sort v desc', of(0, 2, 1))).toEqual([[10], ['9'], [null]]);
    expect(rows('fields v | sort v asc', of(3, 4))).toEqual([['a'], ['b']]);
  });

  test('has at most as many rows as its limit, after sorting', () => {
    expect(rows('fields status | sort status desc | limit 1', lines)).toEqual([[503]]);
  });

  test.each([
    ['parse @message "*" as a', '"*" is left over|"parse" is not a known command'],
    ['filter message like /x/', 'cannot be read'],
    ['filter not a = 1', 'is not a comparison'],
    ['filter a', 'is not a comparison|missing at the end'],
    ['stats avg(a) as b', '"avg" is not a function of stats'],
    ['stats count(*)', 'as is missing'],
    ['limit many', '"many" is not a number'],
    ['fields "a"', 'is not a field'],
    ['fields a b', 'is left over'],
    ['', 'is missing at the end'],
  ])('with the syntax %s is refused', (text, problem) => {
    expect(() => readQuery(text)).toThrow(new RegExp(problem));
  });
});

describe('a placeholder', () => {
  const query = readQuery('fields a | filter (a = "<apiKey>" or b in ["<id>", "<apiKey>"]) and ispresent(c)');

  test('is found once', () => {
    expect(placeholdersOf(query)).toEqual(['apiKey', 'id']);
    expect(placeholdersOf(readQuery('fields a | filter a = "x"'))).toEqual([]);
  });

  test('is replaced by a value, which cannot change the query', () => {
    const value = 'x" or a != "';
    const filled = fill(query, { apiKey: value, id: '7' });
    expect(placeholdersOf(filled)).toEqual([]);
    expect(runQuery(filled, [{ a: 'y', c: 1 }]).rows).toEqual([]);
    expect(runQuery(filled, [{ a: value, c: 1 }]).rows).toEqual([[value]]);
    expect(runQuery(filled, [{ a: 'z', b: 7, c: 1 }]).rows).toEqual([['z']]);
    expect(runQuery(fill(query, { toString: 'x' }), [{ a: 'x', c: 1 }]).rows).toEqual([]);
  });
});

describe('a saved query of a template', () => {
  const resource = (path: string, properties: Record<string, unknown> = {}) => ({
    path,
    type: 'x',
    ref: path,
    arn: path,
    properties,
  });
  const query = (path: string, name: string, QueryString = 'fields @timestamp, id') =>
    resource(path, { Name: name, QueryString });
  const functions = ['Workers/SweepShard1A2B', 'Workers/Sweep1A2B', 'Live/AuthorizeLive1A2B'].map((path) =>
    resource(path),
  );
  const [access, family, live, workers] = savedQueriesOf(
    [
      query('FaultsQuery', 'a'),
      query('V2Users/FaultsQuery', 'b'),
      query('Live/FaultsQuery', 'c'),
      query('Workers/FaultsQuery', 'd'),
    ],
    functions,
  );
  const lines = [
    { timestamp: '2026-01-01T00:00:00.000Z', endpoint: 'v2.users.get', id: 'users' },
    { timestamp: '2026-01-01T00:00:01.000Z', endpoint: 'v2.usergroups.get', id: 'groups' },
    { timestamp: '2026-01-01T00:00:02.000Z', worker: 'sweepShard', id: 'shard' },
    { timestamp: '2026-01-01T00:00:03.000Z', worker: 'authorizeLive', id: 'live' },
    { timestamp: '2026-01-01T00:00:04.000Z', id: 'none' },
  ];
  const now = Date.parse('2026-01-01T00:00:10.000Z');
  const dataDir = join(folder, 'data');
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  const idsOf = async (saved = family, since = 0) =>
    (await runSavedQuery(dataDir, saved!, {}, since)).rows.map(([, id]) => id);

  test('searches the lines of its functions in functions.log, or the access log', async () => {
    await mkdir(dataDir, { recursive: true });
    expect(await idsOf()).toEqual([]);
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    await writeFile(join(dataDir, 'functions.log'), `not JSON\n3\n{"id":"no time"}\n${text}\n{"id":`);
    await writeFile(join(dataDir, 'access.log'), `{"time":"${now}","id":"request"}\n`);
    expect(await Promise.all([family, live, workers, access].map((saved) => idsOf(saved)))).toEqual([
      ['users'],
      ['live'],
      ['shard'],
      ['request'],
    ]);
    expect(await idsOf(access, now)).toEqual(['request']);
    expect(await idsOf(access, now + 1)).toEqual([]);
  });

  test('is named if the local run does not support it', () => {
    expect(() => savedQueriesOf([query('FaultsQuery', 'Stack/odd', 'parse x')], [])).toThrow(
      /^The saved query "Stack\/odd" has a part that the local run does not support: "parse" is not a known command/,
    );
  });
});
