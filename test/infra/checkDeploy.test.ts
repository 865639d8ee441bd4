import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetTemplateCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkAccount, checkDeployment, type Deployed, run } from '../../infra/commands/checkDeploy.ts';
import { synthesisedTemplates } from '../../infra/commands/synthesisedTemplates.ts';
import {
  checkUpdate,
  type DeployedResource,
  holdsState,
  type StackTemplates,
} from '../../infra/commands/templateChanges.ts';
import { isTwin, type Routed, type Twin } from '../../lib/app/page.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { synthesised } from './assembly.ts';
import { greedy, registered } from './endpoints.ts';

const scratch = temporaryFolder();

type Change = (resources: Record<string, DeployedResource & { Properties: Record<string, unknown> }>) => void;
let templates: StackTemplates;
let deployed: string;
beforeAll(async () => {
  deployed = synthesised([...registered, greedy]).outdir;
  templates = await synthesisedTemplates(deployed);
});

/** Returns why a deployment is refused after a change of the root's resources. */
function refusals(change: Change, allowed?: string[]): string[] {
  const resources = JSON.parse(JSON.stringify(templates.resources)) as Parameters<Change>[0];
  change(resources);
  return checkUpdate(templates, { ...templates, resources }, new Set(allowed)).refused.map(
    ({ id, text }) => `${id} ${text}`,
  );
}

/** Returns the only replica of the table, which a test may change. */
function replicaOf({ Properties }: { Properties: Record<string, unknown> }): Record<string, unknown> {
  return (Properties.Replicas as [Record<string, unknown>])[0];
}

describe('checkUpdate', () => {
  test('accepts an update without changes, and ignores the metadata that the CDK CLI adds to each template', () => {
    const before = { ...templates, resources: { ...templates.resources, CDKMetadata: { Type: 'AWS::CDK::Metadata' } } };
    for (const each of [before, templates]) expect(checkUpdate(each, templates)).toEqual({ refused: [], deleted: [] });
  });

  test('classifies every type of resource in the templates as with or without state', () => {
    const all = ({ resources, nested }: StackTemplates): string[] => [
      ...Object.values(resources).map(({ Type }) => Type),
      ...[...nested.values()].flatMap(all),
    ];
    const types = [...new Set(all(templates))].sort();
    expect(types.filter(holdsState)).toEqual([
      'AWS::ApiGatewayV2::Api',
      'AWS::DynamoDB::GlobalTable',
      'AWS::SQS::Queue',
      'AWS::SecretsManager::Secret',
    ]);
    // Types that hold no data to keep. CloudFormation creates them again, and logs expire anyway.
    expect(types.filter((type) => !holdsState(type))).toEqual([
      'AWS::ApiGatewayV2::Integration',
      'AWS::ApiGatewayV2::Route',
      'AWS::ApiGatewayV2::Stage',
      'AWS::CloudFormation::Stack',
      'AWS::CloudWatch::Alarm',
      'AWS::CloudWatch::CompositeAlarm',
      'AWS::CloudWatch::Dashboard',
      'AWS::Events::Rule',
      'AWS::IAM::Role',
      'AWS::Lambda::EventInvokeConfig',
      'AWS::Lambda::EventSourceMapping',
      'AWS::Lambda::Function',
      'AWS::Lambda::Permission',
      'AWS::Logs::LogGroup',
      'AWS::Logs::QueryDefinition',
      'AWS::SQS::QueuePolicy',
    ]);
  });

  test.each([
    'Table',
    'MasterKey',
    'SigningKey',
    'PermissionKey',
    'DeliverQueue',
    'DeliverDeadLetters',
    'StreamDeadLetters',
    'Api',
  ])('refuses to delete %s or to change its logical id', (id) => {
    const because = expect.stringMatching(new RegExp(`^${id} is removed, and with it `));
    expect(refusals((resources) => Reflect.deleteProperty(resources, id))).toEqual([because]);
    expect(
      refusals((resources) => {
        resources[`${id}2`] = resources[id]!;
        Reflect.deleteProperty(resources, id);
      }),
    ).toEqual([because]);
  });

  test.each([
    ['Table', 'KeySchema', [], true],
    ['Table', 'TableName', 'orders', true],
    ['Table', 'StreamSpecification', { StreamViewType: 'NEW_IMAGE' }, true],
    ['Table', 'SomethingNew', true, true],
    ['MasterKey', 'GenerateSecretString', { PasswordLength: 128 }, true],
    ['MailQueue', 'FifoQueue', true, true],
    ['Api', 'ProtocolType', 'WEBSOCKET', true],
    ['Table', 'TimeToLiveSpecification', { Enabled: false }, false],
    ['MasterKey', 'Description', 'other words', false],
    ['MailQueue', 'VisibilityTimeout', 900, false],
    ['Api', 'Name', 'other', false],
  ])('an update that changes %s %s to %j is refused, with both names: %s', (id, property, value, isRefused) => {
    expect(refusals((resources) => void (resources[id]!.Properties[property] = value))).toEqual(
      isRefused
        ? [expect.stringMatching(`^${id} may be replaced or get a new value, because ${property} changes`)]
        : [],
    );
  });

  test('refuses to remove the retention or deletion protection of the table and the keys', () => {
    const said = refusals(({ Table, MasterKey }) => {
      Object.assign(Table!, { DeletionPolicy: 'Delete' });
      replicaOf(Table!).DeletionProtectionEnabled = false;
      Object.assign(MasterKey!, { UpdateReplacePolicy: undefined });
    });
    expect(said.sort()).toEqual([
      'MasterKey would be deleted with its stack: UpdateReplacePolicy is not Retain',
      'Table loses its deletion protection',
      'Table would be deleted with its stack: DeletionPolicy is not Retain',
    ]);
  });

  test('accepts a change in place of a replica and a new replica, and refuses other changes of a replica and its removal', () => {
    const withReplicas = (change: (replica: Record<string, unknown>) => object[]) =>
      refusals(({ Table }) => void (Table!.Properties.Replicas = change(replicaOf(Table!))));
    const elsewhere = { Region: 'eu-north-1' };
    expect(withReplicas((replica) => [{ ...replica, Tags: [{ Key: 'restored', Value: '2026-11-28' }] }])).toEqual([]);
    expect(withReplicas((replica) => [elsewhere, replica])).toEqual([]);
    expect(withReplicas((replica) => [{ ...replica, TableClass: 'STANDARD_INFREQUENT_ACCESS' }])).toEqual([
      expect.stringMatching(/^Table may be replaced or get a new value, because Replicas\.TableClass changes/),
    ]);
    expect(withReplicas(() => [elsewhere])).toEqual([
      'Table loses its replica in {"Ref":"AWS::Region"}, and with it that copy of all data',
    ]);
  });

  test('refuses to turn the table of an old deployment into another type of resource', () => {
    const before = { ...templates, resources: { Table: { Type: 'AWS::DynamoDB::Table', Properties: {} } } };
    expect(checkUpdate(before, templates).refused).toEqual([
      { id: 'Table', type: 'AWS::DynamoDB::Table', text: 'is removed, and with it all data' },
    ]);
  });

  test('accepts one new index per update, and refuses more, changed and removed indexes', () => {
    const withIndexes = (change: (indexes: { IndexName: string; Projection?: object }[]) => object[]) =>
      refusals(({ Table }) => {
        Table!.Properties.GlobalSecondaryIndexes = change(
          Table!.Properties.GlobalSecondaryIndexes as { IndexName: string }[],
        );
      });
    expect(withIndexes((indexes) => [...indexes, { IndexName: 'gsi5' }])).toEqual([]);
    expect(withIndexes((indexes) => [...indexes, { IndexName: 'gsi5' }, { IndexName: 'gsi6' }])).toEqual([
      'Table changes 2 indexes (gsi5, gsi6), but CloudFormation changes one per update',
    ]);
    expect(withIndexes((indexes) => indexes.slice(1))).toEqual(['Table loses index gsi1']);
    expect(withIndexes(([first, ...rest]) => [{ ...first!, Projection: { ProjectionType: 'ALL' } }, ...rest])).toEqual([
      'Table changes the definition of index gsi1, which must then be created again',
    ]);
  });

  test('accepts the loss of resources that the operator names, and refuses the loss of others', () => {
    const change: Change = (resources) => {
      delete resources.MailQueue;
      delete resources.JobsQueue;
    };
    expect(refusals(change, ['MailQueue'])).toEqual([expect.stringMatching(/^JobsQueue /)]);
  });

  test('refuses a route key that moves to another resource, and says to deploy twice', async () => {
    const endpoint = registered.find(({ path }) => path === '/v1/users/get')!;
    expect(isTwin(endpoint)).toBe(true);
    const { twinOf: _, ...own } = endpoint as Twin;
    const others = registered.filter((other) => other !== endpoint);
    const [without, moved] = await Promise.all(
      [others, [...others, own as Routed]].map((routes) =>
        synthesisedTemplates(synthesised([...routes, greedy]).outdir),
      ),
    );
    const { refused, deleted } = checkUpdate(templates, moved!);
    expect(refused).toEqual([
      {
        id: expect.stringMatching(/^V2Users\/GetTwinRoute/),
        type: 'AWS::ApiGatewayV2::Route',
        text: expect.stringMatching(
          /^has the route key "POST \/v1\/users\/get" that V1Users\/GetRoute\w+ gets\. .* Deploy twice: first without this route key, then with it\./,
        ),
      },
    ]);
    expect(deleted).toEqual([]);
    expect(checkUpdate(templates, without!)).toEqual({
      refused: [],
      deleted: [{ id: refused[0]!.id, type: 'AWS::ApiGatewayV2::Route', text: 'is deleted' }],
    });
    expect(checkUpdate(without!, moved!)).toEqual({ refused: [], deleted: [] });
  });

  test('refuses two routes that exchange their keys', () => {
    const route = (RouteKey: string) => ({ Type: 'AWS::ApiGatewayV2::Route', Properties: { RouteKey } });
    const stack = (A: string, B: string) => ({ resources: { A: route(A), B: route(B) }, nested: new Map() });
    const { refused } = checkUpdate(stack('GET /a', 'GET /b'), stack('GET /b', 'GET /a'), new Set(['B']));
    expect(refused.map(({ id }) => id)).toEqual(['A']);
  });

  test('checks nested stacks, including a nested stack that is deleted', () => {
    const queue = { Type: 'AWS::SQS::Queue', Properties: {} };
    const inner = { resources: { Hidden: queue, Role: { Type: 'AWS::IAM::Role' } }, nested: new Map() };
    const around = (nested: StackTemplates): StackTemplates => ({
      resources: { Inner: { Type: 'AWS::CloudFormation::Stack' } },
      nested: new Map([['Inner', nested]]),
    });
    expect(checkUpdate(around(inner), around({ ...inner, resources: {} }))).toMatchObject({
      refused: [{ id: 'Inner/Hidden' }],
      deleted: [{ id: 'Inner/Role' }],
    });
    expect(checkUpdate(around(inner), { resources: {}, nested: new Map() })).toMatchObject({
      refused: [{ id: 'Inner/Hidden' }],
      deleted: [{ id: 'Inner' }, { id: 'Inner/Role' }],
    });
  });
});

describe('npm run check:deploy', () => {
  test('lists a deleted endpoint, and reports that no state is lost', async () => {
    const after = synthesised(registered).outdir;
    const report = await run(['--before', deployed, '--after', after]);
    expect(report).toMatch(/^The update deletes:\n/);
    expect(report).toContain('V2Everything/Get (AWS::Lambda::Function) is deleted');
    expect(report).toMatch(/No resource with state is replaced or deleted\.$/);
  });

  test('reads the deployed templates with nested stacks and pages, and names each loss', async () => {
    const after = join(scratch, 'after');
    mkdirSync(after);
    const { Table: _, ...resources }: Record<string, object> = {
      ...templates.resources,
      Workers: { Type: 'AWS::CloudFormation::Stack', Metadata: { 'aws:asset:path': 'workers.json' } },
    };
    const only = (keptResources: Record<string, unknown>) =>
      JSON.stringify({
        Resources: Object.fromEntries(
          Object.entries(keptResources).filter(
            ([id, resource]) =>
              id === 'Workers' || (resource as DeployedResource).Type !== 'AWS::CloudFormation::Stack',
          ),
        ),
      });
    writeFileSync(join(after, 'CollaborationBackend.template.json'), only(resources));
    writeFileSync(join(after, 'workers.json'), JSON.stringify({ Resources: {} }));
    const requested: string[] = [];
    const account: Record<string, string> = {
      mine: only(templates.resources),
      'arn:workers': JSON.stringify({ Resources: { Kept: { Type: 'AWS::SQS::Queue' } } }),
    };
    const client = {
      send: async (command: unknown) => {
        if (command instanceof GetTemplateCommand)
          return (requested.push(command.input.StackName!), { TemplateBody: account[command.input.StackName!] });
        const {
          input: { NextToken },
        } = command as ListStackResourcesCommand;
        return NextToken === undefined
          ? { StackResourceSummaries: [], NextToken: 'more' }
          : { StackResourceSummaries: [{ LogicalResourceId: 'Workers', PhysicalResourceId: 'arn:workers' }] };
      },
    } as unknown as Deployed;
    await expect(run(['--stack', 'mine', '--after', after], client)).rejects.toThrow(
      /Refused:\n {2}Table \(AWS::DynamoDB::GlobalTable\) is removed, and with it all data\n {2}Workers\/Kept \(AWS::SQS::Queue\) is removed[^]*--allow <id>/,
    );
    expect(requested).toEqual(['mine', 'arn:workers']);
    await expect(
      run(['--stack', 'mine', '--after', after, '--allow', 'Table', '--allow', 'Workers/Kept'], client),
    ).resolves.toContain('No resource with state');
  });

  test('accepts a missing stack and a stack without a template, and fails if CloudFormation refuses access', async () => {
    const failing = (message: string) =>
      ({
        send: async () => {
          throw new Error(message);
        },
      }) as unknown as Deployed;
    await expect(
      run(['--after', deployed], failing('Stack with id CollaborationBackend does not exist')),
    ).resolves.toMatch(/^Stack CollaborationBackend does not exist, so/);
    await expect(run(['--after', deployed], { send: async () => ({}) })).resolves.toMatch(/^No resource with state/);
    await expect(
      run(['--after', deployed], failing('User is not authorized to perform: cloudformation:GetTemplate')),
    ).rejects.toThrow('not authorized');
    await expect(run(['--after', join(scratch, 'nowhere'), '--before', deployed])).rejects.toThrow(
      /nowhere.* does not exist\. Is .* an output folder of cdk synth/,
    );
    await expect(run(['--nonsense'])).rejects.toThrow(/Usage: npm run check:deploy/);
  });
});

describe('checkDeployment', () => {
  const found = { is: 'Lambda is small.', needed: 'more.', where: 'Service Quotas.' };
  const noCredentials = { findings: [], unread: [], unreadAccount: 'No AWS credentials found.' };
  const offline = () => ['--before', deployed, '--after', deployed];

  test('prints what the account lacks below the comparison, without failing', async () => {
    const report = await checkDeployment(offline(), undefined, async () => ({ findings: [found], unread: [] }));
    expect(report).toMatch(/^No resource with state [^]*\n\nThe account and the region:\n {2}Lambda is small\./);
  });

  test('fails with both reports if the account cannot take the deployment', async () => {
    const findings = [{ ...found, isRefused: true as const }];
    await expect(checkDeployment(offline(), undefined, async () => ({ findings, unread: [] }))).rejects.toThrow(
      /^No resource with state [^]*Refused: Lambda is small\./,
    );
  });

  test('compares two folders without credentials, and says in one line that the account was not read', async () => {
    await expect(checkDeployment(offline(), undefined, async () => noCredentials)).resolves.toMatch(
      /\n\nThe account was not read\. No AWS credentials found\.$/,
    );
  });

  test('says once that there are no credentials if both checks need them', async () => {
    const client = {
      send: async () => {
        throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' });
      },
    } as unknown as Deployed;
    await expect(checkDeployment(['--after', deployed], client, async () => noCredentials)).rejects.toThrow(
      /^No AWS credentials found\. .* \(none\)$/,
    );
  });

  test('prints what the account lacks although the comparison refuses the update', async () => {
    const client = {
      send: async () => ({ TemplateBody: JSON.stringify({ Resources: { Old: templates.resources.Table } }) }),
    };
    await expect(
      checkDeployment(['--after', deployed], client as unknown as Deployed, async () => ({
        findings: [found],
        unread: [],
      })),
    ).rejects.toThrow(/^[^]*Refused:\n {2}Old \(AWS::DynamoDB::[^]*\n\nThe account and the region:/);
  });
});

describe('checkAccount', () => {
  test('compares the account with the templates and settings of this source', async () => {
    const failed = { failed: 'no connection' };
    const { findings, unread } = await checkAccount(async ({ table, concurrency }) => ({
      concurrency: { value: concurrency },
      requests: { value: { rate: 1, burst: 1 } },
      tableProperties: { value: table.properties.filter((property) => property !== 'VectorIndexes') },
      models: new Map([['amazon.titan-embed-text-v2:0', failed]]),
    }));
    expect(findings.map(({ is }) => is)).toEqual([
      expect.stringContaining('API Gateway takes 1 requests'),
      expect.stringMatching(/does not know VectorIndexes of AWS::DynamoDB::/),
    ]);
    expect(unread).toEqual(['Not read: the access to model amazon.titan-embed-text-v2:0. no connection']);
  });
});
