import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build.ts';
import { readSettings, settingNames } from '../../infra/settings.ts';

const read = (given: Record<string, unknown>) => readSettings((name) => given[name]);

describe('the settings', () => {
  test('have defaults', () => {
    expect(read({})).toEqual({
      serviceName: 'svc',
      logRetentionDays: 30,
      alarmEmail: undefined,
      unverifiedGraceDays: 14,
      workspaceCreation: 'closed',
      workspaceCreationPerMinute: 60,
      mailFrom: undefined,
      mailIdentity: undefined,
      emailStatusPerMinutePerAddress: 60,
      emailStatusPerMinutePerEmail: 10,
      loginLinksPerHourPerEmail: 10,
    });
  });

  test('take numbers as text, as -c hands them over, and an empty text as nothing', () => {
    expect(read({ logRetentionDays: '90', unverifiedGraceDays: '7', workspaceCreationPerMinute: '5', alarmEmail: '' }))
      .toMatchObject({ logRetentionDays: 90, unverifiedGraceDays: 7, workspaceCreationPerMinute: 5, alarmEmail: undefined });
  });

  test.each([
    ['serviceName', 'Svc'],
    ['serviceName', ''],
    ['logRetentionDays', 31],
    ['logRetentionDays', 'long'],
    ['alarmEmail', 'nobody'],
    ['unverifiedGraceDays', 0],
    ['unverifiedGraceDays', 1.5],
    ['workspaceCreation', 'opened'],
    ['workspaceCreationPerMinute', -1],
    ['mailFrom', 'Ada <ada@example.com>'],
    ['mailIdentity', 'identity/example.com'],
    ['emailStatusPerMinutePerAddress', 0],
    ['emailStatusPerMinutePerEmail', 'many'],
    ['loginLinksPerHourPerEmail', 0],
  ])('refuse %s = %j, naming the setting and the value', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^  ${name}: must be .*, but is ${JSON.stringify(value)}$`, 'm'));
  });

  test('name every setting that is wrong', () => {
    expect(() => read({ serviceName: 1, workspaceCreation: 1 })).toThrow(/serviceName: [^]*workspaceCreation: /);
  });

  test('of cdk.json are valid, and none is misspelt', () => {
    const { context } = JSON.parse(readFileSync(join(projectDir, 'cdk.json'), 'utf8')) as { context: Record<string, unknown> };
    expect(() => read(context)).not.toThrow();
    // Keys with a prefix are the CDK's own.
    expect(settingNames).toEqual(expect.arrayContaining(Object.keys(context).filter((key) => !key.startsWith('@'))));
  });
});
