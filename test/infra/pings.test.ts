import { beforeAll, describe, expect, test } from '@jest/globals';
import { PING } from '../../lib/app/page.ts';
import { appOf, type Assembly, assemblyOf, functionsOf, resources } from './assembly.ts';
import { registered } from './endpoints.ts';

describe('the setting warmFamilies', () => {
  let families: Assembly['families'];
  let templates: Assembly['templates'];
  beforeAll(() => {
    ({ families, templates } = assemblyOf(registered, { warmFamilies: 'v2/auth,v2/users' }));
  });

  test('sends a ping to each function of the families, and to no other', () => {
    const targets = ['v2/auth', 'v2/users'].flatMap((family) =>
      functionsOf(families.get(family)!).map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
    );
    const schedules = resources(templates, 'AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties);
    expect(schedules.map(({ Target }) => Target.Arn)).toEqual(targets);
    for (const { Target, ScheduleExpression } of schedules) {
      expect(JSON.parse(Target.Input)).toEqual(PING);
      expect(ScheduleExpression).toBe('rate(5 minutes)');
    }
  });

  test('lets the schedules of a family call its functions alone', () => {
    const template = families.get('v2/auth')!;
    const [role] = resources([template], 'AWS::IAM::Role')
      .map(([, { Properties }]) => Properties)
      .filter(({ AssumeRolePolicyDocument }) => JSON.stringify(AssumeRolePolicyDocument).includes('scheduler'));
    expect(role!.Policies[0].PolicyDocument.Statement).toEqual([
      {
        Action: 'lambda:InvokeFunction',
        Effect: 'Allow',
        Resource: functionsOf(template).map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
      },
    ]);
  });

  test('can be on for all families, within the limit of resources in a stack', () => {
    const all = assemblyOf(registered, { warmFamilies: 'all' });
    for (const template of all.families.values()) {
      expect(resources([template], 'AWS::Scheduler::Schedule')).toHaveLength(functionsOf(template).length);
      expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(500);
    }
  });

  test('refuses an unknown family by name', () => {
    expect(() => appOf(registered, { warmFamilies: 'v2/nothing' })).toThrow('warmFamilies: unknown family v2/nothing.');
  });
});
