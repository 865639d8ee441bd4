import { describe, expect, test } from '@jest/globals';
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

describe('mostAtOnce', () => {
  const stack = (
    resources: Record<string, Partial<DeployedResource> & { DependsOn?: string | string[] }>,
    nested: Record<string, StackTemplates> = {},
  ): StackTemplates => ({
    resources: Object.fromEntries(Object.entries(resources).map(([id, resource]) => [id, { Type: 'X', ...resource }])),
    nested: new Map(Object.entries(nested)),
  });
  const after = (value: unknown) => ({ Properties: { list: [{ value }] } });
  const nestedStack = { Type: 'AWS::CloudFormation::Stack' };

  test('counts resources that do not wait for one another', () => {
    expect(mostAtOnce(stack({ A: {}, B: {}, C: {} }), /X/)).toBe(3);
    expect(mostAtOnce(stack({ A: {}, B: {}, C: { DependsOn: ['A', 'B'] } }), /X/)).toBe(2);
  });

  test.each([
    ['DependsOn', { DependsOn: 'Role' }],
    ['Ref', after({ Ref: 'Role' })],
    ['Fn::GetAtt', after({ 'Fn::GetAtt': ['Role', 'Arn'] })],
    ['Fn::GetAtt as text', after({ 'Fn::GetAtt': 'Role.Arn' })],
    ['Fn::Sub', after({ 'Fn::Sub': 'x/${Role.Arn}' })],
    ['Fn::Sub with values', after({ 'Fn::Sub': ['${x}', { x: { Ref: 'Role' } }] })],
  ])('follows %s, also through resources of other types', (_name, waiting) => {
    const role = { Type: 'AWS::IAM::Role', DependsOn: ['A'] };
    expect(mostAtOnce(stack({ A: {}, Role: role, B: waiting }), /X/)).toBe(1);
  });

  test('counts nested stacks together unless one waits for the other', () => {
    const inner = stack({ A: {}, B: {} });
    const outer = (second: ({ DependsOn?: string } & ReturnType<typeof after>) | object) =>
      stack({ One: nestedStack, Two: { ...nestedStack, ...second } }, { One: inner, Two: inner });
    expect(mostAtOnce(outer({}), /X/)).toBe(4);
    expect(mostAtOnce(outer({ DependsOn: 'One' }), /X/)).toBe(2);
    expect(mostAtOnce(outer(after({ 'Fn::GetAtt': ['One', 'Outputs.Arn'] })), /X/)).toBe(2);
  });

  test('lets a nested stack wait for resources of the root, and resources of the root for a nested stack', () => {
    const inner = stack({ A: {}, B: { Properties: { of: { Ref: 'RootParameter' } } } });
    const root = { First: {}, Inner: { ...nestedStack, DependsOn: 'First' }, Last: { DependsOn: 'Inner' }, Free: {} };
    expect(mostAtOnce(stack(root, { Inner: inner }), /X/)).toBe(3);
  });
});
