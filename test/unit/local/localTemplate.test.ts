import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { loadAssembly } from '../../../infra/local/assembly/cloudAssembly.ts';
import { modelOf } from '../../../infra/local/assembly/model.ts';

type Resources = Record<string, { Type: string; Properties?: Record<string, unknown> }>;

const dirs: string[] = [];

afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true });
});

/** Writes a cloud assembly to a temporary folder. It has a root template, nested templates and folders of code. */
async function assembly(root: object, nested: Record<string, object> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'assembly-'));
  dirs.push(dir);
  const asset = (path: string, objectKey: string) => ({ source: { path }, destinations: { here: { objectKey } } });
  const files = Object.fromEntries(
    Object.keys(nested).map((name) => [name, asset(`${name}.template.json`, `${name}.json`)]),
  );
  await writeFile(
    join(dir, 'manifest.json'),
    JSON.stringify({
      artifacts: {
        Root: { type: 'aws:cloudformation:stack', properties: { templateFile: 'root.json' } },
        Other: { type: 'cdk:tree' },
      },
    }),
  );
  await writeFile(
    join(dir, 'Root.assets.json'),
    JSON.stringify({ files: { ...files, code: asset('asset.code', 'code.zip') } }),
  );
  await writeFile(join(dir, 'root.json'), JSON.stringify(root));
  for (const [name, template] of Object.entries(nested))
    await writeFile(join(dir, `${name}.template.json`), JSON.stringify(template));
  return { dir, ...loadAssembly(dir, { api: 'http://127.0.0.1:3000', aws: 'http://127.0.0.1:4000' }) };
}

const role = (...statements: object[]) => ({
  Type: 'AWS::IAM::Role',
  Properties: { Policies: [{ PolicyDocument: { Statement: statements } }] },
});
const table = {
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: { KeySchema: [], Replicas: [{ Region: { Ref: 'AWS::Region' } }] },
};
const lambda = (properties: object = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Key: 'code.zip' },
    Handler: 'index.handler',
    Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
    ...properties,
  },
});

async function modelOfResources(Resources: Resources) {
  return modelOf(await assembly({ Resources }));
}

describe('intrinsic functions', () => {
  const evaluate = async (value: unknown) => {
    const { resources } = await assembly({
      Parameters: { Given: { Default: 'default' } },
      Resources: {
        Table: table,
        Secret: { Type: 'AWS::SecretsManager::Secret' },
        Api: { Type: 'AWS::ApiGatewayV2::Api' },
        Queue: { Type: 'AWS::SQS::Queue' },
        Subject: { Type: 'Test::Subject', Properties: { value } },
      },
    });
    return resources.find(({ path }) => path === 'Subject')!.properties.value;
  };

  test.each([
    ['Ref of a resource', { Ref: 'Table' }, 'Root-Table'],
    ['Ref of a secret', { Ref: 'Secret' }, 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Root-Secret'],
    ['Ref of a parameter', { Ref: 'Given' }, 'default'],
    [
      'pseudo parameters',
      [{ Ref: 'AWS::Region' }, { Ref: 'AWS::AccountId' }, { Ref: 'AWS::Partition' }, { Ref: 'AWS::StackName' }],
      ['us-east-1', '000000000000', 'aws', 'Root'],
    ],
    ['no value', { kept: 1, dropped: { Ref: 'AWS::NoValue' } }, { kept: 1 }],
    ['GetAtt', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table'],
    ['GetAtt as text', { 'Fn::GetAtt': 'Table.Arn' }, 'arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table'],
    ['Ref of a queue', { Ref: 'Queue' }, 'http://127.0.0.1:4000/000000000000/Root-Queue'],
    [
      'GetAtt of a queue',
      [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, { 'Fn::GetAtt': ['Queue', 'QueueName'] }],
      ['arn:aws:sqs:us-east-1:000000000000:Root-Queue', 'Root-Queue'],
    ],
    [
      "GetAtt of a table's stream",
      { 'Fn::GetAtt': ['Table', 'StreamArn'] },
      'arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table/stream/local',
    ],
    ["GetAtt of an API's address", { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }, 'http://127.0.0.1:3000'],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'Table' }]] }, 'a/Root-Table'],
    ['Select and Split', { 'Fn::Select': [1, { 'Fn::Split': ['-', { Ref: 'Table' }] }] }, 'Table'],
    [
      'Sub',
      { 'Fn::Sub': '${Table} ${Table.Arn} ${AWS::Region} ${!literal}' },
      'Root-Table arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table us-east-1 ${literal}',
    ],
    ['Sub with values', { 'Fn::Sub': ['${name}', { name: { Ref: 'Table' } }] }, 'Root-Table'],
  ])('resolve %s', async (_name, value, expected) => {
    expect(await evaluate(value)).toEqual(expected);
  });

  test('unsupported functions are refused by name', async () => {
    await expect(evaluate({ 'Fn::ImportValue': 'x' })).rejects.toThrow('The stack Root uses Fn::ImportValue');
    await expect(evaluate({ Ref: 'Missing' })).rejects.toThrow('The stack Root refers to Missing');
  });
});

test('parameters and outputs pass through nested stacks', async () => {
  const { resources } = await assembly(
    {
      Resources: {
        Table: table,
        Family: {
          Type: 'AWS::CloudFormation::Stack',
          Properties: {
            TemplateURL: { 'Fn::Join': ['', ['https://bucket/', 'family.json']] },
            Parameters: { TableArn: { 'Fn::GetAtt': ['Table', 'Arn'] } },
          },
        },
        Reader: { Type: 'Test::Reader', Properties: { name: { 'Fn::GetAtt': ['Family', 'Outputs.Name'] } } },
      },
    },
    {
      family: {
        Parameters: { TableArn: { Type: 'String' } },
        Resources: {
          Function: lambda({ Environment: { Variables: { TABLE_ARN: { Ref: 'TableArn' } } } }),
          Role: role(),
        },
        Outputs: { Name: { Value: { Ref: 'Function' } } },
      },
    },
  );
  expect(resources.map(({ path }) => path)).toEqual(['Table', 'Family/Function', 'Family/Role', 'Reader']);
  expect(resources[1]!.properties.Environment).toEqual({
    Variables: { TABLE_ARN: 'arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table' },
  });
  expect(resources[3]!.properties.name).toBe('Root-Family-Function');
});

describe('modelOf', () => {
  const integration = (properties: object = {}) => ({
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: { IntegrationUri: { 'Fn::GetAtt': ['Function', 'Arn'] }, ...properties },
  });
  const route = (RouteKey: string) => ({
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: { RouteKey, Target: { 'Fn::Join': ['/', ['integrations', { Ref: 'Integration' }]] } },
  });

  test('reads functions with code, role and environment, routes, tables and secrets', async () => {
    const statement = { Effect: 'Allow', Action: ['dynamodb:GetItem'], Resource: { 'Fn::GetAtt': ['Table', 'Arn'] } };
    const attached = {
      Effect: 'Allow',
      Action: 'dynamodb:Query',
      Resource: { 'Fn::Join': ['', [{ 'Fn::GetAtt': ['Table', 'Arn'] }, '/index/gsi1']] },
    };
    const { dir, ...templates } = await assembly({
      Resources: {
        Table: table,
        Role: role(statement),
        Policy: {
          Type: 'AWS::IAM::Policy',
          Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement: attached } },
        },
        Function: lambda({ Timeout: 7, MemorySize: 256, Environment: { Variables: { TABLE_NAME: { Ref: 'Table' } } } }),
        Integration: integration({ TimeoutInMillis: 5_000 }),
        Route: route('POST /v2/things/get'),
        Key: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: { PasswordLength: 8 } } },
        Ignored: { Type: 'AWS::Logs::LogGroup', Properties: { strange: { 'Fn::If': [] } } },
      },
    });
    const model = modelOf(templates);
    const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Root-Table';
    expect(model).toEqual({
      tables: [
        {
          name: 'Root-Table',
          streamArn: `${tableArn}/stream/local`,
          properties: { KeySchema: [], Replicas: [{ Region: 'us-east-1' }] },
        },
      ],
      functions: [
        {
          name: 'Root-Function',
          arn: 'arn:aws:lambda:us-east-1:000000000000:function:Root-Function',
          codeDir: join(dir, 'asset.code'),
          handler: 'index.handler',
          environment: { TABLE_NAME: 'Root-Table' },
          timeoutSeconds: 7,
          memoryMb: 256,
          statements: [
            { actions: new Set(['dynamodb:GetItem']), resources: [tableArn] },
            { actions: new Set(['dynamodb:Query']), resources: [`${tableArn}/index/gsi1`] },
          ],
        },
      ],
      routes: [{ key: 'POST /v2/things/get', function: model.functions[0], timeoutMilliseconds: 5_000 }],
      secrets: [
        {
          name: 'Root-Key',
          arn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Root-Key',
          properties: { GenerateSecretString: { PasswordLength: 8 } },
        },
      ],
      queues: [],
      queueSources: [],
      streamSources: [],
      schedules: [],
      monitoring: { rows: [], alarms: [], composites: [] },
      savedQueries: [],
      accessLog: {},
    });
  });

  test('refuses unsupported resources by name', async () => {
    await expect(
      modelOfResources({
        Flow: { Type: 'AWS::StepFunctions::StateMachine' },
        Timer: { Type: 'AWS::Scheduler::Schedule' },
      }),
    ).rejects.toThrow(/Flow \(AWS::StepFunctions::StateMachine\)\n {2}Timer \(AWS::Scheduler::Schedule\)/);
  });

  test('refuses a route whose role does not allow the gateway to call the function', async () => {
    const resources = (invoke: string) => ({
      Role: role(),
      Function: lambda(),
      Invoker: role({ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: invoke }),
      Integration: integration({ CredentialsArn: { 'Fn::GetAtt': ['Invoker', 'Arn'] } }),
      Route: route('POST /x'),
    });
    await expect(modelOfResources(resources('arn:aws:lambda:us-east-1:000000000000:function:Other'))).rejects.toThrow(
      'The route Route (POST /x) cannot call its function',
    );
    expect(
      (await modelOfResources(resources('arn:aws:lambda:us-east-1:000000000000:function:Root-Function'))).routes,
    ).toHaveLength(1);
  });

  test.each([
    [
      'a managed policy',
      {
        Role: {
          Type: 'AWS::IAM::Role',
          Properties: { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] },
        },
      },
      'Role has the managed policy',
    ],
    [
      'a path parameter',
      { Role: role(), Function: lambda(), Integration: integration(), Route: route('GET /things/{id}/parts') },
      'has a path with parameters',
    ],
    [
      'an alarm that cannot be evaluated',
      { Late: { Type: 'AWS::CloudWatch::Alarm', Properties: { ComparisonOperator: 'Sideways' } } },
      'The alarm Late has a definition that the local run does not support: the comparison Sideways',
    ],
    [
      'a graph that cannot be drawn',
      {
        Dashboard: {
          Type: 'AWS::CloudWatch::Dashboard',
          Properties: { DashboardBody: '{"widgets":[{"type":"explorer","width":6,"properties":{"title":"Lines"}}]}' },
        },
      },
      'The dashboard Dashboard has a definition that the local run does not support: the widget "Lines"',
    ],
    [
      'a route without a function',
      { Route: route('GET /x'), Integration: { Type: 'AWS::ApiGatewayV2::Integration', Properties: {} } },
      'has no function',
    ],
  ])('refuses %s', async (_name, resources, message) => {
    await expect(modelOfResources(resources)).rejects.toThrow(message);
  });
});
