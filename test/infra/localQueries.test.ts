import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { slugOf } from '../../infra/build/docs/markup.ts';
import { loadAssembly } from '../../infra/local/assembly/cloudAssembly.ts';
import { modelOf, type SystemModel } from '../../infra/local/assembly/model.ts';
import { type Condition, fill, type LogLine } from '../../infra/local/assembly/queries/readQuery.ts';
import type { SavedQuery } from '../../infra/local/assembly/queries/savedQueries.ts';
import { accessLine } from '../../infra/local/gateway/accessLog.ts';
import { runQuery } from '../../infra/local/queries/runQuery.ts';
import { endpointId, familyOf } from '../../lib/app/endpoint.ts';
import { synthesised } from './assembly.ts';
import { ownFunctions, registered } from './endpoints.ts';
import { optionalWorkers, workers as defaultWorkers } from './workers.ts';

const workers = [...defaultWorkers, ...optionalWorkers];
let model: SystemModel;
beforeAll(() => {
  const { outdir } = synthesised(
    registered,
    { mailFrom: 'app@example.com', alarmEmail: 'ops@example.com', live: 'on', heartbeat: 'on' },
    { workers },
  );
  const assembly = loadAssembly(outdir, {
    api: 'http://127.0.0.1:3000',
    aws: 'http://127.0.0.1:4000',
    live: 'http://127.0.0.1:5000',
  });
  // The test bundles no code, so no function has an asset.
  model = modelOf({
    ...assembly,
    asset: () => outdir,
    resources: assembly.resources.map((resource) =>
      resource.type === 'AWS::Lambda::Function'
        ? { ...resource, properties: { ...resource.properties, Code: { S3Key: 'code' } } }
        : resource,
    ),
  });
});

/** Returns the fields of a line for which a condition holds. */
function fieldsFor(condition: Condition): Record<string, string | number> {
  switch (condition.kind) {
    case 'all':
      return Object.assign({}, ...condition.of.map(fieldsFor)) as Record<string, string | number>;
    case 'any':
      return fieldsFor(condition.of[0]!);
    case 'isPresent':
      return { [condition.field]: 'present' };
    case 'in':
      return { [condition.field]: condition.values[0]! };
    case 'compare': {
      const { field, operator, value } = condition;
      return { [field]: operator === '<' ? Number(value) - 1 : value };
    }
  }
}

/** Returns a line that a saved query finds. */
function lineFor({ commands }: SavedQuery, more: LogLine): LogLine {
  const fields = commands.flatMap((command) => (command.kind === 'filter' ? [fieldsFor(command.condition)] : []));
  return Object.assign({ '@timestamp': 1_000, latencyMs: 12 }, ...fields, more) as LogLine;
}

describe('the saved queries of the template', () => {
  test('run on the local log, and find lines of their functions only', () => {
    expect(model.savedQueries.length).toBeGreaterThan(100);
    for (const query of model.savedQueries) {
      const values = Object.fromEntries(query.placeholders.map((name) => [name, `<${name}>`]));
      const line = lineFor(query, {});
      const { columns, rows } = runQuery(fill(query.commands, values), [line]);
      expect([query.name, rows.length]).toEqual([query.name, 1]);
      expect(rows[0]).toHaveLength(columns.length);
      expect([query.name, runQuery(query.commands, [{ '@timestamp': 1_000, other: 1 }]).rows.length]).toEqual([
        query.name,
        query.commands.some(({ kind }) => kind === 'filter') ? 0 : 1,
      ]);
    }
  });

  test('cover every endpoint and worker by exactly one group of queries', () => {
    const faults = model.savedQueries.filter(({ name }) => name.includes('/faults of '));
    const searching = (line: LogLine) => faults.filter(({ searches }) => searches(line)).map(({ name }) => name);
    for (const { path } of ownFunctions)
      expect([path, searching({ endpoint: endpointId(path) })]).toEqual([
        path,
        [expect.stringMatching(new RegExp(`/faults of ${familyOf(path).replace('/', '')}$`, 'i'))],
      ]);
    for (const { name } of workers)
      expect([name, searching({ worker: name })]).toEqual([
        name,
        [`CollaborationBackend/faults of Workers${name === 'authorizeLive' ? ' Live' : ''}`],
      ]);
  });

  test('of the access log find the fields that the local gateway writes', () => {
    const context = {
      requestId: 'r',
      requestTimeEpoch: '1000',
      'identity.sourceIp': '127.0.0.1',
      routeKey: 'POST /v2/users/get',
      status: '503',
      responseLatency: '7',
    };
    const line = JSON.parse(accessLine(model.accessLog, context)) as LogLine;
    const query = (name: string) => model.savedQueries.find((each) => each.name.endsWith(`/${name}`))!;
    expect(query('errors by endpoint').log).toBe('access');
    expect(runQuery(query('errors by endpoint').commands, [line])).toEqual({
      columns: ['route', 'status', 'integrationStatus', 'errors', 'requests'],
      rows: [['POST /v2/users/get', '503', '-', 1, 1]],
    });
    expect(runQuery(query('slowest endpoints').commands, [line]).rows).toEqual([['POST /v2/users/get', 1, 7, 7, 7]]);
  });
});

describe('step 1 of each section of the runbook that an alarm links to', () => {
  const runbook = readFileSync(join(projectDir, 'infra/RUNBOOK.md'), 'utf8');
  /** The text of step 1 in each section, by anchor. */
  const firstSteps = new Map(
    runbook.split(/^##+ /m).map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const [, step = ''] = /^1\. (.*?)(?=^\d+\. |\n\n|(?![\s\S]))/ms.exec(lines.join('\n')) ?? [];
      return [slugOf(title), step];
    }),
  );
  const linked = () => {
    const { alarms, composites } = model.monitoring;
    const anchors = [...alarms, ...composites].flatMap(
      ({ description }) => /RUNBOOK\.md#(\S+)/.exec(description)?.[1] ?? [],
    );
    return [...new Set(anchors)];
  };

  test('can be done on one machine: at the dashboard, with a saved query, or with a command', () => {
    expect(linked().length).toBeGreaterThan(20);
    for (const anchor of linked())
      expect([anchor, firstSteps.get(anchor)]).toEqual([
        anchor,
        expect.stringMatching(/saved query `|\b(graphs?|row) "|npm run (deliveries|workspace)|active alarm/),
      ]);
  });

  test('names graphs and saved queries that the local run has', () => {
    const titles = model.monitoring.rows.flatMap(({ graphs }) => graphs.map(({ title }) => title));
    for (const step of linked().map((anchor) => firstSteps.get(anchor)!)) {
      for (const [, graph = ''] of step.matchAll(/\bgraphs? "([^"]+)"/g))
        expect([graph, titles.some((title) => title.startsWith(graph))]).toEqual([graph, true]);
      for (const [, query = ''] of step.matchAll(/saved query `([^`]+)`/g)) {
        const [name = ''] = query.split(' <Family>');
        expect([query, model.savedQueries.some((each) => each.name.includes(`/${name}`))]).toEqual([query, true]);
      }
    }
  });
});
