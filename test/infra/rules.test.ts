import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { App } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { registeredRoutes, registeredWorkers } from '../../infra/build/registry.ts';
import { familyOf } from '../../lib/app/endpoint.ts';
import { isTwin, type Routed, routeKeys } from '../../lib/app/page.ts';
import { templateViolations } from '../support/templateViolations.ts';
import { times } from '../support/times.ts';
import {
  appOf,
  type Assembly,
  assemblyOf,
  functionsOf,
  isReference,
  list,
  resources,
  statementsOf,
  synthesised,
  templateTexts,
} from './assembly.ts';
import { certificateArn, domainName, greedy, ownFunctions, registered } from './endpoints.ts';
import { arnOf, complete, joined, mailArns } from './expected.ts';

const endpoints = [...registered, greedy];
const settings = { alarmEmail: 'ops@example.com', mailFrom: 'no-reply@example.com' };
const MAX_FAMILY = 78;
/** A registry in which every family has twice as many endpoints, and the family of workspaces as many as are allowed. */
const doubled: readonly Routed[] = [
  ...registered,
  ...[...Map.groupBy(registered, ({ path }) => familyOf(path)).values()].flatMap((family) => {
    const twins = family.filter(isTwin).length;
    // One place is for `greedy`.
    const room = MAX_FAMILY - 1 - (family.length - twins) - Math.ceil((2 * twins) / 5);
    const copied = family.filter((endpoint) => !isTwin(endpoint)).slice(0, room);
    return family.flatMap((endpoint) =>
      copied.some(({ path }) => path === (isTwin(endpoint) ? endpoint.twinOf : endpoint.path))
        ? [
            {
              ...endpoint,
              path: `${endpoint.path}/again`,
              ...(isTwin(endpoint) && { twinOf: `${endpoint.twinOf}/again` }),
            } as Routed,
          ]
        : [],
    );
  }),
];

/** The settings of a deployment with its own domain. */
const withDomain = { ...settings, domainName, certificateArn };
let assembly: Assembly;
beforeAll(() => {
  assembly = assemblyOf(endpoints, settings);
});

const all = (type?: string) => resources(assembly.templates, type);

describe('permissions', () => {
  const streams = JSON.stringify(joined(arnOf('Table'), '/stream/*'));
  const patterns = new Set([streams, JSON.stringify(mailArns('example.com')[1])]);
  const roles = () => all('AWS::IAM::Role');

  test('are in inline policies, not in managed ones', () => {
    expect(roles().length).toBeGreaterThan(ownFunctions.length);
    for (const [, { Properties }] of roles()) expect(Properties.ManagedPolicyArns).toBeUndefined();
    expect(
      all().filter(([, { Type }]) => /^AWS::IAM::(ManagedPolicy|Policy|UserPolicy|RolePolicy)$/.test(Type)),
    ).toEqual([]);
  });

  test('to call functions are granted to roles, and to schedules, which have no role', () => {
    const rules = all('AWS::Events::Rule').map(([id]) => arnOf(id));
    const permissions = all('AWS::Lambda::Permission').map(([, { Properties }]) => Properties);
    expect(rules).not.toEqual([]);
    expect(permissions.map(({ SourceArn }) => SourceArn)).toEqual(rules);
    for (const permission of permissions)
      expect(permission).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'events.amazonaws.com' });
  });

  test('name each action and resource, and never Scan', () => {
    for (const [, role] of roles()) {
      for (const { Effect, Action, Resource: resource, ...rest } of statementsOf(role)) {
        expect(Effect).toBe('Allow');
        expect(rest).toEqual({});
        for (const action of list(Action)) expect(action).toMatch(/^[a-z]+:(?!Scan$)[A-Za-z]+$/);
        // Only the ARNs of the table's streams and of the configuration sets of mails may contain a wildcard.
        expect(JSON.stringify(list(resource).filter((arn) => !patterns.has(JSON.stringify(arn))))).not.toContain('*');
      }
    }
  });

  test('are granted to Lambda and to the gateway by name', () => {
    const principals = new Set(
      roles().flatMap(([, { Properties }]) =>
        Properties.AssumeRolePolicyDocument.Statement.map(({ Principal }: any) => JSON.stringify(Principal)),
      ),
    );
    expect([...principals].sort()).toEqual([
      '{"Service":"apigateway.amazonaws.com"}',
      '{"Service":"lambda.amazonaws.com"}',
    ]);
  });
});

describe('every function', () => {
  test('runs Node 24 on arm64 with a log group of its own, without tracing and without a concurrency limit', () => {
    for (const template of assembly.templates)
      for (const [, { Properties }] of functionsOf(template)) {
        expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
        expect([Properties.TracingConfig, Properties.ReservedConcurrentExecutions]).toEqual([undefined, undefined]);
        expect(template.Resources[Properties.LoggingConfig.LogGroup.Ref]!.Type).toBe('AWS::Logs::LogGroup');
      }
    for (const [, { Properties }] of all('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(30);
  });

  test('behind the gateway has a shorter timeout than the gateway', () => {
    for (const [, { Properties }] of functionsOf([assembly.root, ...assembly.families.values()]))
      expect(Properties.Timeout).toBeLessThan(30);
  });
});

/** Returns the size of a value. A reference counts as 100 characters, because only a deployment knows its value. */
const sizeOf = (value: unknown) =>
  JSON.stringify(value, (_key, node) => (isReference(node) ? 'x'.repeat(100) : node)).length;

test.each<[string, string, number, (properties: Record<string, any>) => number]>([
  ['bytes of variables', 'AWS::Lambda::Function', 4_096, ({ Environment }) => sizeOf(Environment.Variables)],
  ['seconds of a run', 'AWS::Lambda::Function', 900, ({ Timeout }) => Timeout],
  ['characters of policies', 'AWS::IAM::Role', 10_240, ({ Policies }) => sizeOf(Policies)],
  ['characters of a text', 'AWS::CloudWatch::Alarm', 1_024, ({ AlarmDescription }) => AlarmDescription.length],
  ['routes', 'AWS::ApiGatewayV2::Route', 300, () => all('AWS::ApiGatewayV2::Route').length],
])('the quota of AWS for %s of %s is kept: %i', (_what, type, quota, measure) => {
  const largest = Math.max(...all(type).map(([, { Properties }]) => measure(Properties)));
  expect(largest).toBeGreaterThan(0);
  expect(largest).toBeLessThanOrEqual(quota);
});

describe('the templates', () => {
  test('set no physical names, so that the stack can be deployed twice', () => {
    for (const [id, { Type, Properties = {} }] of all()) {
      const names = Object.keys(Properties).filter((key) =>
        /^(FunctionName|RoleName|TableName|LogGroupName|TopicName|QueueName|AlarmName|DashboardName|Name)$/.test(key),
      );
      // In these types, a property whose name ends in `Name` refers to another resource.
      if (/^AWS::Lambda::(EventSourceMapping|EventInvokeConfig|Permission)$/.test(Type)) continue;
      // CloudFormation generates no names for these two types. The app builds their names from the stack's name, and
      // they need not be unique. The name of the access log also contains the stack's name.
      const isNamed = Type === 'AWS::ApiGatewayV2::Api' || Type === 'AWS::Logs::QueryDefinition';
      const expected = isNamed ? ['Name'] : id.startsWith('AccessLogs') ? ['LogGroupName'] : [];
      expect([id, names]).toEqual([id, expected]);
    }
  });

  test('have no variable of the local run', () => {
    expect(JSON.stringify(assembly.templates)).not.toMatch(
      /ALLOW_LOOPBACK_DELIVERY|EDITOR_VERSIONS_IN_SECONDS|STRICT_OUTPUT/,
    );
  });

  test('name the access log so that its entry in the policy of the account does not grow', () => {
    const names = resources(assembly.root, 'AWS::Logs::LogGroup').map(([, { Properties }]) => Properties.LogGroupName);
    expect(names).toContain('/aws/vendedlogs/CollaborationBackend/AccessLogs');
  });

  test('with twice the endpoints, or 78 in a family, each stay below 400 resources and 200 outputs', () => {
    const { templates, families } = assemblyOf([...doubled, greedy], withDomain);
    expect(functionsOf([...families.values()])).toHaveLength(doubled.filter((routed) => !isTwin(routed)).length + 1);
    for (const template of templates) {
      expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(400);
      expect(Object.keys(template.Outputs ?? {}).length).toBeLessThanOrEqual(200);
    }
  });

  test('keep the schemas of CloudFormation with every setting', () => {
    const everything = {
      ...withDomain,
      ...complete,
      live: 'on',
      heartbeat: 'on',
      warmFamilies: 'all',
      restoredOn: '2026-11-28',
      kmsKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000',
      permissionsBoundary: 'TeamBoundary',
      tags: { team: 'web' },
    } as const;
    const { outdir } = synthesised(registeredRoutes(), everything, { workers: registeredWorkers() });
    expect(templateViolations([...templateTexts(outdir).keys()].map((name) => join(outdir, name)))).toEqual([]);
  });

  test.each([
    [78, '/v2/everything has 79 endpoints', []],
    [65, '/v2/everything has 66 endpoints. With its twins it counts as 80', ['v1']],
  ])('allow %i endpoints in a family, with its twins, and no more', (most, refusal, twins) => {
    const family = (size: number) =>
      times(size, (index) => {
        const path = `/v2/everything/get${index}` as const;
        return [
          { ...greedy, path },
          ...twins.map(() => ({ ...greedy, path: `/v1/everything/get${index}` as const, twinOf: path })),
        ];
      }).flat();
    const { families } = assemblyOf(family(most));
    expect(Object.keys(families.get('v2/everything')!.Resources).length).toBeLessThanOrEqual(400);
    expect(() => appOf(family(most + 1))).toThrow(refusal);
  });
});

describe('cdk-nag (AWS Solutions)', () => {
  test('reports only findings that are acknowledged with a reason', () => {
    const { app } = appOf(endpoints, withDomain);
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
  });

  test('reports a violation', () => {
    const { app, backend } = appOf([greedy]);
    new CfnSecret(backend, 'Unrotated', {});
    expect(new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName)).toEqual([
      'AwsSolutions-SMG4',
    ]);
    expect(app).toBeInstanceOf(App);
  });
});

describe('resources', () => {
  test('with state are retained and keep the logical ids of the first deployment', () => {
    const stateful = all().filter(([, { Type }]) => /^AWS::(DynamoDB|SecretsManager|S3|KMS|RDS)::/.test(Type));
    expect(
      stateful.map(([id, { Type, DeletionPolicy, UpdateReplacePolicy }]) => [
        id,
        Type,
        DeletionPolicy,
        UpdateReplacePolicy,
      ]),
    ).toEqual([
      ['Table', 'AWS::DynamoDB::GlobalTable', 'Retain', 'Retain'],
      ['MasterKey', 'AWS::SecretsManager::Secret', 'RetainExceptOnCreate', 'Retain'],
      ['SigningKey', 'AWS::SecretsManager::Secret', 'RetainExceptOnCreate', 'Retain'],
      ['PermissionKey', 'AWS::SecretsManager::Secret', 'RetainExceptOnCreate', 'Retain'],
    ]);
    // With another logical id, CloudFormation would create a new API with a new address.
    expect(resources(assembly.root, 'AWS::ApiGatewayV2::Api').map(([id]) => id)).toEqual(['Api']);
  });

  test('with copies of table data keep their logical ids and are deleted with the stack', () => {
    const carriers = all('AWS::SQS::Queue');
    expect(carriers.map(([id]) => id)).toEqual([
      'DeliverDeadLetters',
      'DeliverQueue',
      'DeliverSlowDeadLetters',
      'DeliverSlowQueue',
      'MailDeadLetters',
      'MailQueue',
      'JobsDeadLetters',
      'JobsQueue',
      'EmbedDeadLetters',
      'EmbedQueue',
      'SweepDeadLetters',
      'SweepQueue',
      'StreamDeadLetters',
    ]);
    for (const [, { DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' }] of carriers)
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Delete', 'Delete']);
  });

  test('of the root stack are outputs for the operator: URL, table, times of deliveries and secrets', () => {
    expect(assembly.root.Outputs).toMatchObject({
      ApiUrl: { Value: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] } },
      TableName: { Value: { Ref: 'Table' } },
      WebhookRetrySchedule: { Value: '0,5,300,1800,7200,18000,36000,36000' },
      DueMarginSeconds: { Value: '300' },
      MasterKeySecretArn: { Value: { Ref: 'MasterKey' } },
      SigningKeySecretArn: { Value: { Ref: 'SigningKey' } },
      PermissionKeySecretArn: { Value: { Ref: 'PermissionKey' } },
    });
  });
});

describe('the table', () => {
  test('has its keys, KEYS_ONLY indexes, expiry, a stream of both images, and one replica with backups in the region of the stack', () => {
    const { Properties } = assembly.root.Resources.Table!;
    const key = (pk: string, sk: string) => [
      { AttributeName: pk, KeyType: 'HASH' },
      { AttributeName: sk, KeyType: 'RANGE' },
    ];
    expect(Properties).toMatchObject({
      KeySchema: key('PK', 'SK'),
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      Replicas: [
        {
          Region: { Ref: 'AWS::Region' },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        },
      ],
      GlobalSecondaryIndexes: [1, 2, 3, 4].map((n) => ({
        IndexName: `gsi${n}`,
        KeySchema: key(`gsi${n}pk`, `gsi${n}sk`),
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    });
    expect(Properties.AttributeDefinitions).toHaveLength(20);
  });

  test('has the day of a restore as a tag of its replica', () => {
    const { Table } = assemblyOf([], { restoredOn: '2026-11-28' }).root.Resources;
    expect(Table!.Properties.Replicas[0].Tags).toEqual([{ Key: 'restored', Value: '2026-11-28' }]);
    expect(assembly.root.Resources.Table!.Properties.Replicas[0]).not.toHaveProperty('Tags');
  });

  test('has two vector indexes of 512 dimensions, partitioned by tenant and model, with string filters', () => {
    const { VectorIndexes, AttributeDefinitions } = assembly.root.Resources.Table!.Properties;
    const filters = [
      'vOrganization',
      'vDocument',
      'vDecision',
      'vJudgeType',
      'vContentType',
      'vReviewerId',
      'vYear',
      'vMonth',
      'vDay',
    ];
    expect(VectorIndexes).toEqual(
      ['review', 'content'].map((name) => ({
        IndexName: name,
        VectorAttribute: { AttributeName: `${name}Vector` },
        Dimensions: 512,
        DistanceFunction: 'COSINE',
        SearchSchema: [
          { AttributeName: 'vectorsOf', SearchSchemaElementType: 'HASH' },
          ...filters.map((AttributeName) => ({ AttributeName, SearchSchemaElementType: 'INLINE_FILTER' })),
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['vAt'] },
      })),
    );
    expect(AttributeDefinitions).toEqual(
      expect.arrayContaining(['vectorsOf', ...filters].map((AttributeName) => ({ AttributeName, AttributeType: 'S' }))),
    );
  });
});

describe('a key', () => {
  test.each(['MasterKey', 'SigningKey', 'PermissionKey'])('%s is generated with a current version', (id) => {
    const { GenerateSecretString } = assembly.root.Resources[id]!.Properties;
    expect(JSON.parse(GenerateSecretString.SecretStringTemplate)).toEqual({ current: '1' });
    expect(GenerateSecretString).toMatchObject({
      GenerateStringKey: '1',
      PasswordLength: 64,
      ExcludePunctuation: true,
      IncludeSpace: false,
    });
  });
});

const familyStacks = () =>
  resources(assembly.root, 'AWS::CloudFormation::Stack').filter(
    ([id, { Properties }]) => Properties.Parameters && id !== 'Workers',
  );

describe('the rate limits of the gateway', () => {
  const stage = () => assembly.root.Resources.Stage!;
  const isPublic = (key: string) =>
    endpoints.some((endpoint) => endpoint.auth === 'none' && routeKeys(endpoint).includes(key));

  test('limit each route, and more strictly unknown paths and public routes that do not limit source addresses', () => {
    const { DefaultRouteSettings, RouteSettings } = stage().Properties;
    expect(DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 2_000, ThrottlingBurstLimit: 1_250 });
    const routes = all('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => String(Properties.RouteKey));
    expect(Object.keys(RouteSettings).toSorted()).toEqual(
      routes.filter((key) => key === '$default' || isPublic(key)).toSorted(),
    );
    for (const key of ['GET /docs', 'ANY /v2/workspace/email/verify', 'POST /v2/workspace/email/send-login-link'])
      expect(Object.keys(RouteSettings)).toContain(key);
    const strict = Object.entries<Record<string, number>>(RouteSettings).filter(
      ([, { ThrottlingRateLimit: rate }]) => rate !== 2_000,
    );
    // The endpoint of this test assembly that declares no limit.
    expect(strict.map(([key, { ThrottlingRateLimit: rate }]) => [key, rate]).toSorted()).toEqual([
      ['$default', 50],
      ['POST /v2/everything/get', 50],
    ]);
  });

  test('allow bursts of twice the rate, up to the setting requestBurst', () => {
    const { root } = assemblyOf([greedy], {
      requestsPerSecond: 400,
      publicRequestsPerSecond: 700,
      requestBurst: 1_000,
    });
    const { DefaultRouteSettings, RouteSettings } = root.Resources.Stage!.Properties;
    expect(DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 400, ThrottlingBurstLimit: 800 });
    expect(RouteSettings.$default).toEqual({ ThrottlingRateLimit: 700, ThrottlingBurstLimit: 1_000 });
  });

  test('are set after the routes are created, because AWS refuses settings of a missing route', () => {
    const families = familyStacks().map(([id]) => id);
    const routes = resources(assembly.root, 'AWS::ApiGatewayV2::Route').map(([id]) => id);
    expect(families.length).toBeGreaterThan(5);
    expect(stage().DependsOn).toEqual(expect.arrayContaining([...families, ...routes]));
  });
});

describe('the stacks of families', () => {
  test('are deployed as three parallel sequences, because one HTTP API rejects many concurrent changes', () => {
    const families = familyStacks();
    const ids = new Set(families.map(([id]) => id));
    const before = families.map(([, { DependsOn = [] }]) => DependsOn.filter((id) => ids.has(id)));
    expect(before.filter((stacks) => stacks.length === 0)).toHaveLength(3);
    expect(before.filter((stacks) => stacks.length > 1)).toEqual([]);
    expect(new Set(before.flat()).size).toBe(before.flat().length);
  });

  test('are deployed after the workers, because old workers cannot read what new endpoints write', () => {
    const first = familyStacks().filter(([, { DependsOn = [] }]) => DependsOn.includes('Workers'));
    expect(first).toHaveLength(3);
  });
});
