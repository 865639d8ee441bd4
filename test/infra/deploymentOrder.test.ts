import { expect, test } from '@jest/globals';
import { registeredRoutes, registeredWorkers } from '../../infra/build/registry.ts';
import { synthesisedTemplates } from '../../infra/commands/synthesisedTemplates.ts';
import type { DeployedResource, StackTemplates } from '../../infra/commands/templateChanges.ts';
import { synthesised } from './assembly.ts';
import { mostAtOnce } from './deploymentOrder.ts';
import { certificateArn, domainName } from './endpoints.ts';

const GATEWAY = /^AWS::ApiGatewayV2::/;

test('a first deployment works on at most 12 resources of API Gateway at the same time, in all stacks together', async () => {
  const settings = { domainName, certificateArn, live: 'on', heartbeat: 'on' } as const;
  const { outdir } = synthesised(registeredRoutes(), settings, { workers: registeredWorkers() });
  const templates = await synthesisedTemplates(outdir);
  const all = [templates, ...templates.nested.values()].flatMap(({ resources }) => Object.values(resources));
  expect(all.filter(({ Type }) => GATEWAY.test(Type)).length).toBeGreaterThan(300);
  expect(mostAtOnce(templates, GATEWAY)).toBeLessThanOrEqual(12);
});

const stack = (
  resources: Record<string, Partial<DeployedResource> & { DependsOn?: string | string[] }>,
  nested: Record<string, StackTemplates> = {},
): StackTemplates => ({
  resources: Object.fromEntries(Object.entries(resources).map(([id, resource]) => [id, { Type: 'X', ...resource }])),
  nested: new Map(Object.entries(nested)),
});
const after = (value: unknown) => ({ Properties: { list: [{ value }] } });
const nestedStack = { Type: 'AWS::CloudFormation::Stack' };
const inner = stack({ A: {}, B: { Properties: { of: { Ref: 'RootParameter' } } } });
const role = { Type: 'AWS::IAM::Role', DependsOn: ['A'] };

test.each<[string, StackTemplates, number]>([
  ['resources that do not wait', stack({ A: {}, B: {}, C: {} }), 3],
  ['DependsOn', stack({ A: {}, B: {}, C: { DependsOn: ['A', 'B'] } }), 2],
  ...[
    { Ref: 'Role' },
    { 'Fn::GetAtt': ['Role', 'Arn'] },
    { 'Fn::GetAtt': 'Role.Arn' },
    { 'Fn::Sub': 'x/${Role.Arn}' },
  ].map((value): [string, StackTemplates, number] => [
    `${JSON.stringify(value)}, through another type`,
    stack({ A: {}, Role: role, B: after(value) }),
    1,
  ]),
  ['nested stacks together', stack({ One: nestedStack, Two: nestedStack }, { One: inner, Two: inner }), 4],
  [
    'a nested stack that waits for another',
    stack(
      { One: nestedStack, Two: { ...nestedStack, ...after({ 'Fn::GetAtt': ['One', 'Outputs.Arn'] }) } },
      { One: inner, Two: inner },
    ),
    2,
  ],
  [
    'nested stacks and resources of the root that wait for each other',
    stack(
      { First: {}, Inner: { ...nestedStack, DependsOn: 'First' }, Last: { DependsOn: 'Inner' }, Free: {} },
      { Inner: inner },
    ),
    3,
  ],
])('mostAtOnce counts %s', (_what, templates, expected) => {
  expect(mostAtOnce(templates, /X/)).toBe(expected);
});
