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
      domainName: undefined,
      certificateArn: undefined,
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
      embeddingModel: 'amazon.titan-embed-text-v2:0',
      claudeModelId: undefined,
      novaModelId: undefined,
      webhookRetrySchedule: '0,5,300,1800,7200,18000,36000,36000',
      mailRetrySchedule: '0,60,300,1800,7200,21600',
      dueMarginSeconds: 300,
      reconcileAfterSeconds: 180,
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
    ['domainName', 'https://api.example.com'],
    ['domainName', 'API.example.com'],
    ['domainName', 'api'],
    ['certificateArn', 'arn:aws:iam::123456789012:server-certificate/api'],
    ['unverifiedGraceDays', 0],
    ['unverifiedGraceDays', 1.5],
    ['workspaceCreation', 'opened'],
    ['workspaceCreationPerMinute', -1],
    ['mailFrom', 'Ada <ada@example.com>'],
    ['embeddingModel', 'titan'],
    ['claudeModelId', 'arn:aws:bedrock:eu-central-1::foundation-model/*'],
    ['mailIdentity', 'identity/example.com'],
    ['emailStatusPerMinutePerAddress', 0],
    ['emailStatusPerMinutePerEmail', 'many'],
    ['loginLinksPerHourPerEmail', 0],
    ['webhookRetrySchedule', 0],
    ['webhookRetrySchedule', '0, 5'],
    ['webhookRetrySchedule', '0,5,'],
    ['webhookRetrySchedule', '-1'],
    ['webhookRetrySchedule', '604800,604801'],
    ['webhookRetrySchedule', Array(21).fill(0).join()],
    ['mailRetrySchedule', ''],
    ['dueMarginSeconds', 59],
    ['reconcileAfterSeconds', 3_601],
  ])('refuse %s = %j, naming the setting and the value', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^  ${name}: must be .*, but is ${JSON.stringify(value).replaceAll('*', '\\*')}$`, 'm'));
  });

  test('take a schedule of one attempt, and one of 14 days', () => {
    expect(read({ webhookRetrySchedule: '0', mailRetrySchedule: '604800,604800' })).toMatchObject({ webhookRetrySchedule: '0', mailRetrySchedule: '604800,604800' });
  });

  test.each([
    ['domainName', 'certificateArn', 'api.example.com'],
    ['certificateArn', 'domainName', 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000000'],
  ])('refuse %s without %s', (name, other, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^  ${other}: must be set where ${name} is, but is not set$`, 'm'));
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
