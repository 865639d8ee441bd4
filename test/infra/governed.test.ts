import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { AwsSolutionsChecks } from 'cdk-nag';
import { projectDir } from '../../infra/build/build.ts';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { synthesisedTemplates } from '../../infra/commands/synthesisedTemplates.ts';
import { checkUpdate } from '../../infra/commands/templateChanges.ts';
import type { Settings } from '../../infra/settings/settings.ts';
import { times } from '../support/times.ts';
import {
  appOf,
  type Assembly,
  assemblyOf,
  functionsOf,
  list,
  pairsOf,
  resources,
  roleOf,
  statementsOf,
  synthesised,
  templateTexts,
} from './assembly.ts';
import { certificateArn, domainName, greedy, registered } from './endpoints.ts';
import { joined } from './expected.ts';

const everything: Partial<Settings> = {
  alarmEmail: 'ops@example.com',
  mailFrom: 'no-reply@example.com',
  heartbeat: 'on',
  live: 'on',
  warmFamilies: 'all',
};
const assemblies = new Map<string, Assembly>();
/** Returns the templates of `greedy` and all workers with these settings. */
function deployed(settings: Partial<Settings>): Assembly {
  const key = JSON.stringify(settings);
  const assembly =
    assemblies.get(key) ?? assemblyOf([greedy], { ...everything, ...settings }, { workers: registeredWorkers() });
  assemblies.set(key, assembly);
  return assembly;
}

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
      resources(deployed({ stackName }).templates).flatMap(([, { Type, Properties }]) =>
        Object.entries({ ...Properties })
          .filter(([key, value]) => /^(.*Name)$/.test(key) && typeof value === 'string')
          // These name a metric, a stage or a namespace inside an API of the stack.
          .filter(([key]) => !/^(MetricName|StageName)$/.test(key) && Type !== 'AWS::AppSync::ChannelNamespace')
          .map(([key, value]) => `${Type} ${key} ${value}`),
      );
    const first = names('One');
    expect(first.length).toBeGreaterThan(10);
    const second = new Set(names('Staging'));
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
  });
});

test('templates without these settings have nothing of them', () => {
  const { root, templates } = deployed({});
  expect(JSON.stringify(templates)).not.toMatch(/kms|POWERTOOLS_SERVICE_NAME|PermissionsBoundary|"Tags"/i);
  expect(root.Resources.Api!.Properties).not.toHaveProperty('DisableExecuteApiEndpoint');
});

const kmsKeyArn = 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000';
const models = { claudeModelId: 'anthropic.claude-opus-4-8', novaModelId: 'amazon.nova-pro-v1:0' };
let completeAssembly: Assembly | undefined;
/** Returns the templates of all endpoints and workers, with models and a key. */
function complete(): Assembly {
  completeAssembly ??= assemblyOf(
    [...registered, greedy],
    { ...everything, ...models, kmsKeyArn },
    { workers: registeredWorkers() },
  );
  return completeAssembly;
}

describe('the setting kmsKeyArn', () => {
  const { templates, root } = deployed({ kmsKeyArn });
  const properties = (type: string) => resources(templates, type).map(([, resource]) => resource.Properties);

  test('encrypts every log group, secret, queue and topic, and the table', () => {
    for (const type of ['AWS::Logs::LogGroup', 'AWS::SecretsManager::Secret']) {
      expect(properties(type).length).toBeGreaterThan(4);
      expect(new Set(properties(type).map(({ KmsKeyId }) => KmsKeyId))).toEqual(new Set([kmsKeyArn]));
    }
    expect(properties('AWS::SQS::Queue')).toHaveLength(13);
    for (const queue of properties('AWS::SQS::Queue')) {
      expect(queue.KmsMasterKeyId).toBe(kmsKeyArn);
      expect(queue).not.toHaveProperty('SqsManagedSseEnabled');
    }
    expect(properties('AWS::SNS::Topic').map(({ KmsMasterKeyId }) => KmsMasterKeyId)).toEqual([kmsKeyArn]);
    expect(root.Resources.Table!.Properties).toMatchObject({
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      Replicas: [{ SSESpecification: { KMSMasterKeyId: kmsKeyArn } }],
    });
  });

  /** The actions of KMS that each action needs, by the guides of the three services. */
  const read = ['kms:Decrypt', 'kms:DescribeKey'];
  const write = [...read, 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'];
  const needed: [RegExp, string[]][] = [
    [/^dynamodb:(BatchGetItem|GetItem|Query|SearchVectors|GetRecords|GetShardIterator|DescribeStream)$/, read],
    [/^dynamodb:(BatchWriteItem|DeleteItem|PutItem|UpdateItem)$/, write],
    [/^secretsmanager:GetSecretValue$/, ['kms:Decrypt']],
    [/^sqs:SendMessage$/, ['kms:Decrypt', 'kms:GenerateDataKey']],
    [/^sqs:ReceiveMessage$/, ['kms:Decrypt']],
  ];

  test('lets each function use this key alone, for what its other permissions need', () => {
    const used = new Set<string>();
    for (const template of complete().templates) {
      for (const [, definition] of functionsOf(template)) {
        const statements = statementsOf(roleOf(template, definition));
        const isForKey = ({ Action }: { Action: string | string[] }) => list(Action)[0]!.startsWith('kms:');
        const actions = statements.filter((statement) => !isForKey(statement)).flatMap(({ Action }) => Action);
        const expected = new Set(
          actions.flatMap((action) =>
            needed.flatMap(([pattern, keyActions]) => (pattern.test(action) ? keyActions : [])),
          ),
        );
        expect(pairsOf(statements.filter(isForKey))).toEqual(
          [...expected].sort().map((action) => `${JSON.stringify(kmsKeyArn)} ${action}`),
        );
        used.add([...expected].sort().join());
      }
    }
    expect([...used]).toEqual(expect.arrayContaining(['', read.join(), write.join()]));
  });

  test('gives no other role a permission for a key', () => {
    const others = resources(templates, 'AWS::IAM::Role').filter(([id]) => /ApiInvoker|Pinger/.test(id));
    expect(others.length).toBeGreaterThan(1);
    expect(JSON.stringify(others)).not.toContain('kms:');
  });

  test('passes the checks of cdk-nag', () => {
    const { app } = appOf([greedy], { ...everything, kmsKeyArn });
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
  });
});

test('kmsKeyArn and tags can be set, changed and removed without the loss of state', async () => {
  const settings = [
    {},
    { kmsKeyArn },
    { kmsKeyArn: kmsKeyArn.replace('0a1b2c3d', '1a1b2c3d') },
    { tags: { team: 'web' } },
    {},
  ];
  const deployments = await Promise.all(
    settings.map((each) => synthesisedTemplates(synthesised([greedy], each).outdir)),
  );
  for (const [index, after] of deployments.slice(1).entries())
    expect(checkUpdate(deployments[index]!, after).refused).toEqual([]);
});

describe('the setting disableExecuteApiEndpoint', () => {
  test('disables the host name of AWS, and functions call the domain', () => {
    const { root, templates } = deployed({ disableExecuteApiEndpoint: 'on', domainName, certificateArn });
    expect(root.Resources.Api!.Properties.DisableExecuteApiEndpoint).toBe(true);
    expect(root.Outputs!.ApiUrl!.Value).toBe('https://api.example.com');
    const [, heartbeat] = functionsOf(templates).find(([id]) => id === 'Heartbeat')!;
    expect(heartbeat.Properties.Environment.Variables.PUBLIC_URL).toBe('https://api.example.com');
    expect(JSON.stringify(templates)).not.toMatch(/ApiEndpoint"\]|execute-api/);
  });
});

describe('the setting permissionsBoundary', () => {
  test.each([
    ['arn:aws:iam::123456789012:policy/TeamBoundary', 'arn:aws:iam::123456789012:policy/TeamBoundary'],
    ['arn:aws:iam::aws:policy/PowerUserAccess', 'arn:aws:iam::aws:policy/PowerUserAccess'],
    ['TeamBoundary', ownPolicy('TeamBoundary')],
    ['teams/web/Boundary', ownPolicy('teams/web/Boundary')],
  ])('%s limits every role', (permissionsBoundary, expected) => {
    const roles = resources(deployed({ permissionsBoundary }).templates, 'AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(10);
    for (const [, { Properties }] of roles) expect(Properties.PermissionsBoundary).toEqual(expected);
  });
});

/** Returns the ARN of a policy of the account by its name, as templates have it. */
function ownPolicy(name: string) {
  return joined('arn:', { Ref: 'AWS::Partition' }, ':iam::', { Ref: 'AWS::AccountId' }, `:policy/${name}`);
}

describe('the setting tags', () => {
  const tags = Object.fromEntries(times(20, (index) => [`team:${index}`, 'x'.repeat(43)]));

  test('tags every resource that can have tags, and the replica of the table', () => {
    const settings = { ...everything, tags: { team: 'web', unit: '4711' }, restoredOn: '2026-11-28' };
    const asList = Object.entries(settings.tags).map(([Key, Value]) => ({ Key, Value }));
    const { templates, root } = assemblyOf([greedy], settings, { workers: registeredWorkers() });
    const untagged = new Set(
      resources(templates)
        .filter(
          ([, { Properties }]) => !tagsOf(Properties.Tags).some(({ Key, Value }) => Key === 'unit' && Value === '4711'),
        )
        .map(([, { Type }]) => Type),
    );
    // No resource of these types can have tags, except the table, whose replicas have them.
    expect([...untagged].sort()).toEqual([
      'AWS::ApiGatewayV2::Integration',
      'AWS::ApiGatewayV2::Route',
      'AWS::DynamoDB::GlobalTable',
      'AWS::Lambda::EventInvokeConfig',
      'AWS::Lambda::Permission',
      'AWS::Logs::QueryDefinition',
      'AWS::SNS::Subscription',
      'AWS::SNS::TopicPolicy',
      'AWS::SQS::QueuePolicy',
      'AWS::Scheduler::Schedule',
    ]);
    expect(root.Resources.Table!.Properties.Replicas[0].Tags).toEqual([
      ...asList,
      { Key: 'restored', Value: '2026-11-28' },
    ]);
  });

  test('are tags of the stack too', () => {
    const { outdir } = synthesised([greedy], { tags: { team: 'web' } });
    const { artifacts } = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8'));
    expect(artifacts.CollaborationBackend.properties.tags).toEqual({ team: 'web' });
  });

  test('leave each template below 1 MB with the longest tags', () => {
    const { outdir } = synthesised([...registered, greedy], { ...everything, tags });
    const sizes = [...templateTexts(outdir).values()].map((text) => text.length);
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
  });
});

/** Returns the tags of a resource, which are a list or an object by its type. */
function tagsOf(value: unknown): { Key: string; Value: string }[] {
  if (Array.isArray(value)) return value;
  return Object.entries((value ?? {}) as Record<string, string>).map(([Key, Value]) => ({ Key, Value }));
}

describe('the setting reservedConcurrency', () => {
  const of = (reservedConcurrency: Record<string, number>) => deployed({ reservedConcurrency });
  const concurrency = (id: string, { templates }: Assembly) =>
    functionsOf(templates).find(([logicalId]) => logicalId === id)![1].Properties.ReservedConcurrentExecutions;
  const mappingOf = (id: string, { workers }: Assembly) =>
    resources(workers!, 'AWS::Lambda::EventSourceMapping').find(
      ([, { Properties }]) => Properties.FunctionName.Ref === id,
    )![1].Properties.ScalingConfig;

  test('reserves executions for the workers that it names, and for no other function', () => {
    const assembly = of({ deliverWebhook: 50, sweep: 1, authorizeLive: 7 });
    expect(['DeliverWebhook', 'Sweep', 'AuthorizeLive'].map((id) => concurrency(id, assembly))).toEqual([50, 1, 7]);
    const limited = functionsOf(assembly.templates).filter(
      ([, { Properties }]) => Properties.ReservedConcurrentExecutions !== undefined,
    );
    expect(limited).toHaveLength(3);
  });

  test('limits the event source mapping of a queue too, because SQS counts throttled receives', () => {
    expect(mappingOf('DeliverWebhook', of({ deliverWebhook: 50 }))).toEqual({ MaximumConcurrency: 50 });
    expect(mappingOf('DeliverWebhook', of({ deliverWebhook: 500 }))).toEqual({ MaximumConcurrency: 100 });
    expect(mappingOf('DeliverWebhook', of({ runJobs: 2 }))).toEqual({ MaximumConcurrency: 100 });
  });

  test('names an unknown worker', () => {
    expect(() => of({ runjobs: 5 })).toThrow(
      /^Invalid settings.*\n {2}reservedConcurrency: unknown worker runjobs\. There are authorizeLive, .*runJobs/,
    );
  });

  test('must leave room for other functions, and at least two executions for a queue', () => {
    expect(() => of({ runJobs: 1 })).toThrow(
      'reservedConcurrency: must be at least 2 for runJobs, which reads a queue',
    );
    expect(() => of({ runJobs: 900 })).not.toThrow();
    expect(() => of({ runJobs: 900, sweep: 1 })).toThrow('must be at most 900 in all');
  });
});

describe('the page of governed accounts', () => {
  const page = readFileSync(join(projectDir, 'infra/GOVERNED.md'), 'utf8');
  const workflow = readFileSync(join(projectDir, '.github/workflows/deploy.yml.example'), 'utf8');

  test('lists each action that a permissions boundary must allow', () => {
    const [, section] = /## Permissions boundary\n([^]*?)\n## /.exec(page)!;
    const actions = resources(complete().templates, 'AWS::IAM::Role').flatMap(([, role]) =>
      statementsOf(role).flatMap(({ Action }) => Action),
    );
    expect(actions).toEqual(expect.arrayContaining(['kms:Decrypt', 'appsync:EventPublish', 'ses:SendEmail']));
    const listed = new Set([...section!.matchAll(/`(?:[a-z]+:)?(\w+)`/g)].map(([, action]) => action));
    expect([...new Set(actions)].filter((action) => !listed.has(action.split(':')[1]))).toEqual([]);
  });

  test('has policies in valid JSON', () => {
    const policies = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, text]) => JSON.parse(text!));
    expect(policies.map(({ Statement }) => Statement.length)).toEqual([3, 1]);
  });

  test('name scripts that exist, also in the pipeline, which is no file that GitHub runs', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
    const named = [...(page + workflow).matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!);
    expect(named).toEqual(expect.arrayContaining(['synth', 'check:deploy', 'cdk', 'deploy', 'smoke']));
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    expect(readdirSync(join(projectDir, '.github/workflows')).filter((file) => /deploy.*\.ya?ml$/.test(file))).toEqual(
      [],
    );
  });
});
