import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Needs, needsOf } from '../../../infra/commands/account/needs.ts';
import { readAccount } from '../../../infra/commands/account/readAccount.ts';
import type { Readings } from '../../../infra/commands/account/readings.ts';
import { accountReport, checkReadings } from '../../../infra/commands/account/rules.ts';
import { readSettings } from '../../../infra/settings/settings.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const CLAUDE = 'eu.anthropic.claude-opus-4-8';
const TITAN = 'amazon.titan-embed-text-v2:0';

const needs: Needs = {
  concurrency: 1_000,
  queueConcurrency: 159,
  requests: { rate: 2_000, burst: 4_000 },
  table: { type: 'AWS::DynamoDB::Table', properties: ['KeySchema', 'VectorIndexes'] },
  mailIdentity: 'example.com',
  models: [
    { setting: 'embeddingModel', id: TITAN, model: TITAN, isProfile: false },
    { setting: 'claudeModelId', id: CLAUDE, model: 'anthropic.claude-opus-4-8', isProfile: true },
  ],
};

const usable = { exists: true, isAuthorized: true, agreement: 'AVAILABLE' };

/** An account that has everything. */
const ready: Readings = {
  concurrency: { value: 1_000 },
  requests: { value: { rate: 10_000, burst: 5_000 } },
  tableProperties: { value: ['KeySchema', 'Tags', 'VectorIndexes'] },
  mail: { value: { isInSandbox: false, isSendingEnabled: true, suppressedReasons: ['COMPLAINT', 'BOUNCE'] } },
  isMailIdentityVerified: { value: true },
  models: new Map([
    [TITAN, { value: usable }],
    [CLAUDE, { value: usable }],
  ]),
};

describe('needsOf', () => {
  const resources = {
    Table: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { Replicas: [], VectorIndexes: [] } },
    Stage: {
      Type: 'AWS::ApiGatewayV2::Stage',
      Properties: {
        DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
        RouteSettings: { $default: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 300 } },
      },
    },
  };
  const needsWith = (settings: Readonly<Record<string, unknown>>) =>
    needsOf(
      { resources, nested: new Map() },
      readSettings((name) => settings[name]),
    );

  test('reads the highest limits of the stage and the properties of the table from the templates', () => {
    expect(needsWith({})).toMatchObject({
      concurrency: 1_000,
      requests: { rate: 100, burst: 300 },
      table: { type: 'AWS::DynamoDB::GlobalTable', properties: ['Replicas', 'VectorIndexes'] },
    });
  });

  test('needs SES and models only if the settings name them', () => {
    expect(needsWith({ embeddingModel: 'lexical' })).toMatchObject({ mailIdentity: undefined, models: [] });
    const { mailIdentity, models } = needsWith({
      mailFrom: 'app@mail.example.com',
      claudeModelId: CLAUDE,
      novaModelId: 'amazon.nova-lite-v1:0',
    });
    expect(mailIdentity).toBe('mail.example.com');
    expect(models.map(({ id, model, isProfile }) => [id, model, isProfile])).toEqual([
      [TITAN, TITAN, false],
      [CLAUDE, 'anthropic.claude-opus-4-8', true],
      ['amazon.nova-lite-v1:0', 'amazon.nova-lite-v1:0', false],
    ]);
    expect(needsWith({ mailFrom: 'app@mail.example.com', mailIdentity: 'example.com' }).mailIdentity).toBe(
      'example.com',
    );
  });
});

describe('checkReadings', () => {
  /** Returns the findings for an account that differs from a ready one. */
  const findings = (changes: Partial<Readings>, changedNeeds: Partial<Needs> = {}) =>
    checkReadings({ ...needs, ...changedNeeds }, { ...ready, ...changes }).findings;

  test('finds nothing in an account that has everything', () => {
    const check = checkReadings(needs, ready);
    expect(check).toEqual({ findings: [], unread: [] });
    expect(accountReport(check)).toBe('The account and the region have what the deployment needs.');
  });

  test('asks for the default quota of 1,000 executions in a new account, and for its limit in the setting', () => {
    const [quota, setting, ...more] = findings({ concurrency: { value: 10 } });
    expect(more).toEqual([]);
    expect(quota).toMatchObject({
      is: expect.stringContaining('at most 10'),
      needed: expect.stringMatching(/^1000\b.*159/),
    });
    expect(quota!.where).toContain('--service-code lambda --quota-code L-B99A9384 --desired-value 1000');
    expect(setting).toMatchObject({
      is: 'The setting accountConcurrency is 1000, but the limit of the account is 10.',
      needed: expect.stringMatching(/^10, .*ConcurrencyHigh/),
    });
    expect(findings({ concurrency: { value: 10 } }, { concurrency: 10 })).toEqual([quota]);
  });

  test('asks only for another setting if the limit of the account is above it', () => {
    expect(findings({ concurrency: { value: 3_000 } }).map(({ needed }) => needed)).toEqual([
      '3000, so that alarm ConcurrencyHigh starts at 80 % of the limit.',
    ]);
  });

  test.each([
    [{ rate: 1_999, burst: 5_000 }, 2_000],
    // AWS sets the burst to half of the rate.
    [{ rate: 2_500, burst: 1_250 }, 8_000],
  ])('refuses limits of the stage above those of the account, %p', (value, desired) => {
    const found = findings({ requests: { value } });
    expect(found).toMatchObject([{ isRefused: true, needed: expect.stringContaining('requestsPerSecond') }]);
    expect(found[0]!.where).toContain(`--service-code apigateway --quota-code L-8A5B8E43 --desired-value ${desired}`);
  });

  test('refuses a region whose tables have no vector indexes', () => {
    expect(findings({ tableProperties: { value: ['KeySchema'] } })).toMatchObject([
      {
        is: 'CloudFormation in this region does not know VectorIndexes of AWS::DynamoDB::Table.',
        needed: expect.stringContaining('a region with vector indexes'),
        isRefused: true,
      },
    ]);
  });

  test('asks for production access, sending and the suppression list of SES', () => {
    const value = { isInSandbox: true, isSendingEnabled: false, suppressedReasons: ['BOUNCE'] };
    expect(findings({ mail: { value }, isMailIdentityVerified: { value: false } }).map(({ is }) => is)).toEqual([
      expect.stringContaining('sandbox'),
      expect.stringContaining('has stopped the mail'),
      expect.stringContaining('does not include COMPLAINT.'),
      'Amazon SES has not verified the identity example.com in this region.',
    ]);
  });

  const withAccess = (id: string, changes: Partial<typeof usable>) =>
    findings({ models: new Map([...ready.models, [id, { value: { ...usable, ...changes } }]]) });

  test.each([
    [TITAN, { exists: false }, /no model amazon/, /lexical/],
    [CLAUDE, { exists: false }, /no inference profile eu\.anthropic/, /claudeModelId/],
    [TITAN, { isAuthorized: false }, /may not use model amazon/, /embeddingModel/],
    [CLAUDE, { agreement: 'NOT_AVAILABLE' }, /no agreement .*NOT_AVAILABLE/, /form .*aws-marketplace:Subscribe/],
    [CLAUDE, { agreement: 'PENDING', isAuthorized: false }, /no agreement .*PENDING/, /form/],
  ])('asks for access to %s with %p', (id, changes, is, needed) => {
    expect(withAccess(id, changes)).toEqual([
      { is: expect.stringMatching(is), needed: expect.stringMatching(needed), where: expect.any(String) },
    ]);
  });

  test("needs no agreement for Amazon's own models", () => {
    expect(withAccess(TITAN, { agreement: 'NOT_AVAILABLE' })).toEqual([]);
  });

  test('names the permission for a part that the caller may not read, and the error of other parts', () => {
    const check = checkReadings(needs, {
      ...ready,
      concurrency: { failed: 'The service is unavailable' },
      requests: { denied: 'apigateway:GET for /account' },
    });
    expect(accountReport(check)).toBe(
      [
        'The account and the region:',
        "  Not read: Lambda's limit of concurrent executions. The service is unavailable",
        '  Not read: the limits of API Gateway. Allow apigateway:GET for /account.',
      ].join('\n'),
    );
  });

  test('reports in one line that nothing could be read', () => {
    const failed = { failed: 'No AWS credentials found.' };
    const check = checkReadings(needs, {
      concurrency: failed,
      requests: failed,
      tableProperties: failed,
      mail: failed,
      isMailIdentityVerified: failed,
      models: new Map([
        [TITAN, failed],
        [CLAUDE, failed],
      ]),
    });
    expect(accountReport(check)).toBe('The account was not read. No AWS credentials found.');
  });
});

describe('readAccount', () => {
  interface Answer {
    readonly status?: number;
    readonly error?: string;
    readonly body?: object | string;
  }

  const scratch = temporaryFolder();
  const { env } = process;
  let aws: Receiver;
  /** The answers of AWS by method and path, or by action for CloudFormation. */
  let answers: Readonly<Record<string, Answer>>;
  let requests: string[];

  beforeEach(async () => {
    requests = [];
    aws = await startHttp(
      (request, response) =>
        void (async () => {
          const call = await callOf(request);
          requests.push(call);
          const { status, error, body = {} } = answers[call] ?? { status: 404, error: 'ResourceNotFoundException' };
          response
            .writeHead(status ?? 200, { ...(error !== undefined && { 'x-amzn-errortype': error }) })
            .end(typeof body === 'string' ? body : JSON.stringify(body));
        })(),
    );
    process.env = {
      ...env,
      AWS_ENDPOINT_URL: aws.url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_MAX_ATTEMPTS: '1',
    };
  });
  afterEach(async () => {
    process.env = env;
    await aws.stop();
  });

  async function callOf(request: IncomingMessage): Promise<string> {
    const action = /Action=(\w+)/.exec(await text(request))?.[1];
    return action ?? `${request.method} ${decodeURIComponent(request.url!.split('?')[0]!)}`;
  }

  const describeType = (schema: object) =>
    `<DescribeTypeResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeTypeResult><Schema>${JSON.stringify(schema).replaceAll('"', '&quot;')}</Schema></DescribeTypeResult></DescribeTypeResponse>`;

  const modelAnswer = (agreement: string, changes: object = {}): Answer => ({
    body: {
      authorizationStatus: 'AUTHORIZED',
      entitlementAvailability: 'AVAILABLE',
      regionAvailability: 'AVAILABLE',
      agreementAvailability: { status: agreement },
      ...changes,
    },
  });

  const newAccount = (): Readonly<Record<string, Answer>> => ({
    'GET /2016-08-19/account-settings': { body: { AccountLimit: { ConcurrentExecutions: 10 } } },
    'GET /account': { body: { throttleSettings: { rateLimit: 2500, burstLimit: 1250 } } },
    DescribeType: { body: describeType({ properties: { KeySchema: {}, VectorIndexes: {} } }) },
    'GET /v2/email/account': { body: { ProductionAccessEnabled: false, SendingEnabled: true } },
    'GET /v2/email/identities/example.com': { status: 404, error: 'NotFoundException' },
    [`GET /foundation-model-availability/${TITAN}`]: modelAnswer('AVAILABLE'),
    [`GET /inference-profiles/${CLAUDE}`]: { body: {} },
    // A model behind an inference profile can be in other regions only.
    'GET /foundation-model-availability/anthropic.claude-opus-4-8': modelAnswer('NOT_AVAILABLE', {
      regionAvailability: 'NOT_AVAILABLE',
    }),
  });

  test('reads a new account: 10 executions, the sandbox of SES and no agreement for a model', async () => {
    answers = newAccount();
    const readings = await readAccount(needs);
    expect(readings).toEqual({
      concurrency: { value: 10 },
      requests: { value: { rate: 2_500, burst: 1_250 } },
      tableProperties: { value: ['KeySchema', 'VectorIndexes'] },
      mail: { value: { isInSandbox: true, isSendingEnabled: true, suppressedReasons: [] } },
      isMailIdentityVerified: { value: false },
      models: new Map([
        [TITAN, { value: usable }],
        [CLAUDE, { value: { ...usable, agreement: 'NOT_AVAILABLE' } }],
      ]),
    });
    const report = accountReport(checkReadings(needs, readings));
    for (const quota of ['L-B99A9384', 'L-8A5B8E43']) expect(report).toContain(quota);
    for (const part of ['sandbox', 'suppression list', 'identity example.com', 'no agreement for model anthropic'])
      expect(report).toContain(part);
  });

  test('reads neither SES nor Bedrock for a deployment without mail and models', async () => {
    answers = newAccount();
    const readings = await readAccount({ ...needs, mailIdentity: undefined, models: [] });
    expect(readings).not.toHaveProperty('mail');
    expect(requests.sort()).toEqual(['DescribeType', 'GET /2016-08-19/account-settings', 'GET /account']);
  });

  test('finds no model and no profile in a region of Bedrock that does not know them', async () => {
    answers = {
      ...newAccount(),
      [`GET /inference-profiles/${CLAUDE}`]: { status: 404, error: 'ResourceNotFoundException' },
      [`GET /foundation-model-availability/${TITAN}`]: { status: 400, error: 'ValidationException' },
    };
    const { models } = await readAccount(needs);
    for (const reading of models.values()) expect(reading).toMatchObject({ value: { exists: false } });
  });

  test('names the IAM action of each part that the caller may not read', async () => {
    const denied = { status: 403, error: 'AccessDeniedException' };
    answers = {
      ...Object.fromEntries(Object.keys(newAccount()).map((call) => [call, denied])),
      DescribeType: {
        status: 403,
        body: '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>No</Message></Error></ErrorResponse>',
      },
    };
    const { unread, unreadAccount } = checkReadings(needs, await readAccount(needs));
    expect(unreadAccount).toBeUndefined();
    expect(unread.map((text) => text.split('Allow ')[1])).toEqual([
      'lambda:GetAccountSettings.',
      'apigateway:GET for /account.',
      'cloudformation:DescribeType.',
      'ses:GetAccount.',
      'ses:GetEmailIdentity.',
      'bedrock:GetFoundationModelAvailability.',
      'bedrock:GetInferenceProfile.',
    ]);
  });

  test.each([
    ['credentials', /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|PROFILE)$/],
    ['region', /^AWS_/],
  ])('reports in one line that there are no credentials or no region: %s', async (missing, variables) => {
    process.env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !variables.test(name))),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SHARED_CREDENTIALS_FILE: join(scratch, 'credentials'),
      AWS_CONFIG_FILE: join(scratch, 'config'),
    };
    expect(accountReport(checkReadings(needs, await readAccount(needs)))).toMatch(
      new RegExp(`^The account was not read\\. No AWS ${missing} found\\. .*$`),
    );
    expect(requests).toEqual([]);
  });
});
