import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { registeredWorkers } from '../../infra/build/registry.ts';
import type { Settings } from '../../infra/stacks/settings.ts';
import { assemblyOf, functionsOf, resources, synthesised, templateTexts } from './assembly.ts';
import { greedy } from './endpoints.ts';

const everything: Partial<Settings> = {
  alarmEmail: 'ops@example.com',
  mailFrom: 'no-reply@example.com',
  heartbeat: 'on',
  live: 'on',
  warmFamilies: 'all',
};
const deployed = (settings: Partial<Settings>) =>
  assemblyOf([greedy], { ...everything, ...settings }, { workers: registeredWorkers() });

describe('the setting stackName', () => {
  test('names the stack and leaves the logical ids and the files of the templates as they are', () => {
    const outputs = [{}, { stackName: 'Staging' }].map((settings) => synthesised([greedy], settings).outdir);
    const [before, after] = outputs.map((outdir) => {
      const { artifacts } = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8'));
      const ids = [...templateTexts(outdir)].map(([file, text]) => [file, Object.keys(JSON.parse(text).Resources)]);
      return { name: artifacts.CollaborationBackend.properties.stackName ?? 'CollaborationBackend', ids };
    });
    expect(before!.name).toBe('CollaborationBackend');
    expect(after!.name).toBe('Staging');
    expect(after!.ids).toEqual(before!.ids);
  });

  test('is in every name that a template gives to a resource, so that two deployments share none', () => {
    const names = (stackName: string) =>
      resources(deployed({ stackName }).templates).flatMap(([, { Type, Properties = {} }]) =>
        Object.entries(Properties)
          .filter(([key, value]) => /^(.*Name)$/.test(key) && typeof value === 'string')
          // These name a metric, a stage or a namespace inside an API of the stack.
          .filter(([key]) => !/^(MetricName|StageName)$/.test(key) && Type !== 'AWS::AppSync::ChannelNamespace')
          .map(([key, value]) => `${Type} ${key} ${value}`),
      );
    const first = names('One');
    expect(first.length).toBeGreaterThan(10);
    const second = new Set(names('Two'));
    expect(first.filter((name) => second.has(name))).toEqual([]);
    expect(first.filter((name) => !/\bOne\b/.test(name))).toEqual([]);
  });

  test('is in the metrics of functions, alarms and the dashboard, because deployments share their namespace', () => {
    const { templates, root } = deployed({ stackName: 'Staging' });
    for (const [, { Properties }] of functionsOf(templates))
      expect(Properties.Environment.Variables).toMatchObject({ POWERTOOLS_SERVICE_NAME: 'Staging/svc' });
    const text = JSON.stringify(root);
    expect(text).toContain("service = 'Staging/svc'");
    expect(text).not.toMatch(/service = 'svc'|\{"Name":"service","Value":"svc"\}/);
    expect(JSON.stringify(deployed({}).templates)).not.toContain('POWERTOOLS_SERVICE_NAME');
  });
});
