import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { projectContext } from '../../infra/build/projectContext.ts';
import { readSettings, settingNames, stackOf } from '../../infra/settings/settings.ts';

const read = (context: Record<string, unknown>, region?: string) =>
  readSettings((name) => context[name], Object.keys(context), region);

/** Returns one line for each problem of the settings. */
function problemsOf(context: Record<string, unknown>, region?: string): string[] {
  try {
    read(context, region);
    return [];
  } catch (error) {
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000000';

describe('readSettings', () => {
  test('returns defaults', () => {
    expect(read({})).toEqual({
      stackName: 'CollaborationBackend',
      serviceName: 'svc',
      domainName: undefined,
      certificateArn: undefined,
      disableExecuteApiEndpoint: 'off',
      live: 'off',
      heartbeat: 'off',
      logRetentionDays: 30,
      kmsKeyArn: undefined,
      permissionsBoundary: undefined,
      tags: undefined,
      reservedConcurrency: undefined,
      alarmEmail: undefined,
      alarmTopicArn: undefined,
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
      mailsPerRecipientPerHour: 20,
      mailsPerWriterPerHour: 200,
      dueMarginSeconds: 300,
      accountConcurrency: 1_000,
      streamBatchesPerShard: 2,
      warmFamilies: '',
      reconcileAfterSeconds: 180,
      readsPerSecondPerKey: 500,
      writesPerSecondPerKey: 200,
      expensiveCallsPerSecondPerKey: 50,
      callBurstSeconds: 10,
      requestsPerSecond: 2_000,
      requestBurst: 1_250,
      accountRequestsPerSecond: undefined,
      accountRequestBurst: undefined,
      publicRequestsPerSecond: 50,
    });
  });

  test('accepts numbers as text, and treats an empty text as unset', () => {
    expect(
      read({ logRetentionDays: '90', unverifiedGraceDays: '7', workspaceCreationPerMinute: '5', alarmEmail: '' }),
    ).toMatchObject({
      logRetentionDays: 90,
      unverifiedGraceDays: 7,
      workspaceCreationPerMinute: 5,
      alarmEmail: undefined,
    });
  });

  test.each([
    ['readsPerSecondPerKey', 0],
    ['writesPerSecondPerKey', 1.5],
    ['expensiveCallsPerSecondPerKey', 'many'],
    ['callBurstSeconds', 301],
    ['requestsPerSecond', 0],
    ['publicRequestsPerSecond', 10_001],
    ['requestBurst', 0],
    ['accountRequestsPerSecond', 'many'],
    ['accountRequestBurst', 0.5],
    ['stackName', 'my_stack'],
    ['stackName', '1stack'],
    ['stackName', 'x'.repeat(41)],
    ['serviceName', 'Svc'],
    ['serviceName', ''],
    ['warmFamilies', 'auth'],
    ['warmFamilies', 'v2/auth,'],
    ['logRetentionDays', 31],
    ['logRetentionDays', 'long'],
    ['alarmEmail', 'nobody'],
    ['kmsKeyArn', 'arn:aws:kms:eu-west-1:123456789012:alias/backend'],
    ['reservedConcurrency', 5],
    ['reservedConcurrency', 'runJobs=5'],
    ['reservedConcurrency', { runJobs: 0 }],
    ['reservedConcurrency', { runJobs: 1.5 }],
    ['reservedConcurrency', { runJobs: '5' }],
    ['tags', 'team=web'],
    ['tags', ['web']],
    ['tags', { 'aws:team': 'web' }],
    ['tags', { restored: 'never' }],
    ['tags', { '': 'web' }],
    ['tags', { team: 4711 }],
    ['tags', { team: 'web\n' }],
    ['tags', { team: 'x'.repeat(257) }],
    ['tags', Object.fromEntries(Array.from({ length: 21 }, (_each, index) => [`tag${index}`, '']))],
    ['tags', { a: 'x'.repeat(250), b: 'x'.repeat(250), c: 'x'.repeat(250), d: 'x'.repeat(250) }],
    ['permissionsBoundary', 'arn:aws:iam::123456789012:role/TeamBoundary'],
    ['permissionsBoundary', 'Team Boundary'],
    ['permissionsBoundary', 'policy/*'],
    ['kmsKeyArn', '0a1b2c3d-0000-4000-8000-000000000000'],
    ['kmsKeyArn', 'arn:aws:kms:eu-west-1:123456789012:key/*'],
    ['alarmTopicArn', 'alarms'],
    ['alarmTopicArn', 'arn:aws:sqs:eu-west-1:123456789012:alarms'],
    ['alarmTopicArn', 'arn:aws:sns:eu-west-1:123456789012:alarms.fifo'],
    ['alarmTopicArn', 'arn:aws:sns:eu-west-1:123456789012:alarms:5be8b3f7-0c5e-4c5a-9d8b-1f0e5c0b7a11'],
    ['domainName', 'https://api.example.com'],
    ['domainName', 'API.example.com'],
    ['domainName', 'api'],
    ['disableExecuteApiEndpoint', 'yes'],
    ['certificateArn', 'arn:aws:iam::123456789012:server-certificate/api'],
    ['unverifiedGraceDays', 0],
    ['unverifiedGraceDays', 1.5],
    ['unverifiedGraceDays', 0.5],
    ['workspaceCreation', 'opened'],
    ['workspaceCreationPerMinute', -1],
    ['mailFrom', 'Ada <ada@example.com>'],
    ['embeddingModel', 'titan'],
    ['claudeModelId', 'arn:aws:bedrock:eu-central-1::foundation-model/*'],
    ['restoredOn', 'yesterday'],
    ['mailIdentity', 'identity/example.com'],
    ['emailStatusPerMinutePerAddress', 0],
    ['emailStatusPerMinutePerEmail', 'many'],
    ['loginLinksPerHourPerEmail', 0],
    ['mailsPerRecipientPerHour', -1],
    ['mailsPerWriterPerHour', 100_001],
    ['webhookRetrySchedule', 0],
    ['webhookRetrySchedule', '0, 5'],
    ['webhookRetrySchedule', 'abc'],
    ['webhookRetrySchedule', '0,5,'],
    ['webhookRetrySchedule', '-1'],
    ['webhookRetrySchedule', '604800,604801'],
    ['webhookRetrySchedule', Array(21).fill(0).join()],
    ['mailRetrySchedule', ''],
    ['dueMarginSeconds', 59],
    ['dueMarginSeconds', 'soon'],
    ['reconcileAfterSeconds', 3_601],
  ])('refuses %s = %j with one problem that names the setting and the value', (name, value) => {
    const problems = problemsOf({
      certificateArn,
      domainName: 'api.example.com',
      mailFrom: 'no-reply@example.com',
      [name]: value,
    });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: must (be|have) .*, but is `))]);
    expect(problems[0]!.endsWith(JSON.stringify(value))).toBe(true);
  });

  test('accepts tags as an object and as the JSON text of one', () => {
    const tags = { costCenter: '4711', 'Owner of data': 'müller@example.com', 'team:unit/x': '' };
    expect(read({ tags })).toMatchObject({ tags });
    expect(read({ tags: JSON.stringify(tags) })).toMatchObject({ tags });
  });

  test('accepts retry schedules of one attempt and of 14 days', () => {
    expect(read({ webhookRetrySchedule: '0', mailRetrySchedule: '604800,604800' })).toMatchObject({
      webhookRetrySchedule: '0',
      mailRetrySchedule: '604800,604800',
    });
  });

  test.each([
    ['domainName', 'certificateArn', 'api.example.com'],
    ['certificateArn', 'domainName', certificateArn],
    ['mailIdentity', 'mailFrom', 'example.com'],
  ])('refuses %s without %s', (name, other, value) => {
    expect(problemsOf({ [name]: value, [other]: '' })).toEqual([`${other}: must be set if ${name} is set`]);
  });

  test('accepts an alarm topic of another partition', () => {
    const alarmTopicArn = 'arn:aws-cn:sns:cn-north-1:123456789012:On_call-1';
    expect(read({ alarmTopicArn })).toMatchObject({ alarmTopicArn });
  });

  test('refuses to disable the host name of AWS without a domain', () => {
    expect(problemsOf({ disableExecuteApiEndpoint: 'on' })).toEqual([
      'domainName: must be set if disableExecuteApiEndpoint is on, because no other host name would answer',
    ]);
    const domain = { domainName: 'api.example.com', certificateArn };
    expect(problemsOf({ disableExecuteApiEndpoint: 'on', ...domain })).toEqual([]);
  });

  test.each([
    ['alarmTopicArn', 'arn:aws:sns:eu-west-1:123456789012:alarms'],
    ['kmsKeyArn', 'arn:aws:kms:eu-west-1:123456789012:key/mrk-0a1b2c3d000040008000000000000000'],
    ['certificateArn', certificateArn.replace('eu-central-1', 'eu-west-1')],
  ])('refuses %s in another region than that of the stack', (name, arn) => {
    const context = { domainName: 'api.example.com', certificateArn: '', [name]: arn };
    if (name !== 'certificateArn') context.domainName = '';
    expect(read(context)).toMatchObject({ [name]: arn });
    expect(problemsOf(context, 'eu-west-1')).toEqual([]);
    expect(problemsOf(context, 'us-east-1')).toEqual([
      `${name}: must be in the region of the stack, us-east-1, but is "${arn}"`,
    ]);
    expect(problemsOf({ ...context, serviceName: 'Svc' }, 'us-east-1')).toEqual([
      expect.stringMatching(/^serviceName: /),
      expect.stringMatching(`^${name}: `),
    ]);
  });

  test('give commands the name of the stack, also if another setting is invalid', () => {
    expect(stackOf({ serviceName: 'Svc' })).toBe('CollaborationBackend');
    expect(stackOf({ stackName: 'Staging' })).toBe('Staging');
    expect(() => stackOf({ stackName: 'my_stack' })).toThrow(/^stackName: must be .*, but is "my_stack"$/);
  });

  test('lists all problems at once', () => {
    const problems = problemsOf({
      serviceName: 1,
      domainName: 'api.example.com',
      mailIdentity: 'example.com',
      workspaceCreation: 'opened',
      alarmemail: 'ops@example.com',
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'serviceName',
      'workspaceCreation',
      'certificateArn',
      'mailFrom',
      'alarmemail',
    ]);
  });

  test.each([
    ['alarmemail', 'alarmEmail'],
    ['alarm-email', 'alarmEmail'],
    ['alarmMail', 'alarmEmail'],
    ['logRetention', 'logRetentionDays'],
    ['ALARM_EMAIL', 'alarmEmail'],
    ['domain_name', 'domainName'],
    ['mailForm', 'mailFrom'],
  ])('refuses the unknown setting %s and suggests %s', (name, meant) => {
    expect(problemsOf({ [name]: 'x' })).toEqual([`${name}: unknown setting. Did you mean ${meant}?`]);
  });

  test('refuses an unknown setting without a similar name, and names the page that lists all settings', () => {
    expect(problemsOf({ colour: 'x', constructor: 'x' })).toEqual(
      ['colour', 'constructor'].map((name) => `${name}: unknown setting. See "Settings" in infra/README.md.`),
    );
  });

  test('ignores names that the CDK adds to the context', () => {
    const cdkNames = [
      '@aws-cdk/core:validateAgainstDefaultRules',
      'aws:cdk:enable-asset-metadata',
      'aws-cdk:enableDiffNoFail',
      'availability-zones:account=1:region=x',
      'cli-telemetry',
      'acknowledged-issue-numbers',
    ];
    expect(problemsOf(Object.fromEntries(cdkNames.map((key) => [key, true])))).toEqual([]);
  });

  test('accepts the settings of cdk.json', () => {
    const context = projectContext();
    expect(() => read(context)).not.toThrow();
    // Names with this prefix belong to the CDK.
    expect(settingNames).toEqual(expect.arrayContaining(Object.keys(context).filter((key) => !key.startsWith('@'))));
  });
});

describe('the limits of the gateway', () => {
  // As the quota page of API Gateway lists them, by name.
  const regionsWithLowerQuotas = {
    'Africa (Cape Town)': 'af-south-1',
    'Europe (Milan)': 'eu-south-1',
    'Asia Pacific (Jakarta)': 'ap-southeast-3',
    'Middle East (UAE)': 'me-central-1',
    'Asia Pacific (Hyderabad)': 'ap-south-2',
    'Asia Pacific (Melbourne)': 'ap-southeast-4',
    'Europe (Spain)': 'eu-south-2',
    'Europe (Zurich)': 'eu-central-2',
    'Israel (Tel Aviv)': 'il-central-1',
    'Canada West (Calgary)': 'ca-west-1',
    'Asia Pacific (Malaysia)': 'ap-southeast-5',
    'Asia Pacific (Thailand)': 'ap-southeast-7',
    'Mexico (Central)': 'mx-central-1',
  };

  test.each(Object.values(regionsWithLowerQuotas))('are at most 2,500 a second and bursts of 1,250 in %s', (region) => {
    expect(problemsOf({ requestsPerSecond: 2_500, publicRequestsPerSecond: 2_500 }, region)).toEqual([]);
    expect(problemsOf({ requestsPerSecond: 2_501, requestBurst: 1_251 }, region)).toEqual([
      `requestsPerSecond: must be at most 2500, the default quota "Throttle rate" of API Gateway for an account in ${region}, but is 2501. If AWS has raised the quota, set accountRequestsPerSecond to it`,
      `requestBurst: must be at most 1250, the default quota "Throttle burst rate" of API Gateway for an account in ${region}, but is 1251. If AWS has raised the quota, set accountRequestBurst to it`,
    ]);
    expect(problemsOf({ publicRequestsPerSecond: 2_501 }, region)).toEqual([
      expect.stringMatching(/^publicRequestsPerSecond: must be at most 2500, /),
    ]);
  });

  test.each(['eu-central-1', undefined])('are at most 10,000 a second and bursts of 5,000 in region %s', (region) => {
    expect(problemsOf({ requestsPerSecond: 10_000, requestBurst: 5_000 }, region)).toEqual([]);
    expect(problemsOf({ requestsPerSecond: 10_001, requestBurst: 5_001 }, region)).toEqual([
      expect.stringMatching(/^requestsPerSecond: must be at most 10000, .* for an account( in eu-central-1)?, but/),
      expect.stringMatching(/^requestBurst: must be at most 5000, /),
    ]);
  });

  test('are at most the quotas that the operator states for the account', () => {
    const raised = { accountRequestsPerSecond: '20000', accountRequestBurst: 8_000 };
    expect(problemsOf({ ...raised, requestsPerSecond: 20_000, requestBurst: 8_000 }, 'eu-south-1')).toEqual([]);
    expect(problemsOf({ ...raised, requestsPerSecond: 20_001, requestBurst: 8_001 })).toEqual([
      'requestsPerSecond: must be at most accountRequestsPerSecond, which is 20000, but is 20001',
      'requestBurst: must be at most accountRequestBurst, which is 8000, but is 8001',
    ]);
  });

  test.each(['CDK_DEFAULT_REGION', 'AWS_REGION'])(
    'are checked against the region of %s at synthesis',
    async (variable) => {
      const { CDK_DEFAULT_REGION: _, AWS_REGION: __, ...env } = process.env;
      const synthesis = promisify(execFile)(process.execPath, ['infra/app.ts'], {
        cwd: projectDir,
        env: { ...env, [variable]: 'eu-south-1', CDK_CONTEXT_JSON: '{"requestBurst":1251}' },
      });
      await expect(synthesis).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^Invalid settings .*\n {2}requestBurst: must be at most 1250, .* in eu-south-1/),
      });
    },
  );
});
