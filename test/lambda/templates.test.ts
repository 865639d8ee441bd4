import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  paginateDescribeStacks,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, expect, test } from '@jest/globals';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { motoTypes, startMoto } from '../support/moto.ts';
import { zip } from '../support/zip.ts';

/** The account of moto. */
const ACCOUNT = '123456789012';
const REGION = 'us-east-1';
const STACK = 'CollaborationBackend';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

const moto = forAllTests(startMoto);
const deployed = forAllTests(deploy);

/** Uploads the assets as the CDK does, with templates that have the types of moto only, and creates the stack. */
async function deploy() {
  const dir = await cachedAssembly(() => undefined, { hasHeartbeat: true });
  const known = new Set(await motoTypes());
  const { files } = readJson(join(dir, `${STACK}.assets.json`)) as {
    files: Record<
      string,
      { source: { path: string }; destinations: Record<string, { bucketName: string; objectKey: string }> }
    >;
  };
  const templates: Template[] = [];
  let rootUrl = '';
  for (const { source, destinations } of Object.values(files)) {
    const [{ bucketName, objectKey }] = Object.values(destinations) as [{ bucketName: string; objectKey: string }];
    const bucket = bucketName.replace('${AWS::AccountId}', ACCOUNT).replace('${AWS::Region}', REGION);
    const isTemplate = source.path.endsWith('.template.json');
    if (isTemplate) templates.push(withPlainTable(readJson(join(dir, source.path)) as Template));
    const body = isTemplate ? JSON.stringify(withTypes(templates.at(-1)!, known)) : CODE;
    await moto.put(bucket, objectKey, body);
    if (source.path === `${STACK}.template.json`) rootUrl = `https://s3.${REGION}.amazonaws.com/${bucket}/${objectKey}`;
  }
  const cloudFormation = new CloudFormationClient(client());
  const input = { StackName: STACK, TemplateURL: rootUrl, Capabilities: ['CAPABILITY_IAM' as const] };
  await cloudFormation.send(new CreateStackCommand(input)).catch((error: unknown) => {
    throw new Error(`moto cannot create the stack:\n${moto.log()}`, { cause: error });
  });
  return { cloudFormation, known, types: typesOf(templates) };
}

const CODE = zip({ 'index.mjs': Buffer.from('export const handler = async () => undefined;') });

function client() {
  return {
    endpoint: moto.url,
    region: REGION,
    maxAttempts: 1,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Returns the number of resources of each type. */
function typesOf(templates: readonly Template[]): Map<string, number> {
  const types = templates.flatMap(({ Resources }) => Object.values(Resources)).map(({ Type }) => Type);
  return new Map([...Map.groupBy(types, (type) => type)].map(([type, all]) => [type, all.length]));
}

/** Returns a template with a plain table in place of the global one. moto knows only the first, and both have the same keys and indexes. */
function withPlainTable(template: Template): Template {
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    if (resource.Type !== 'AWS::DynamoDB::GlobalTable') return [id, resource];
    const { Replicas: _, ...Properties } = resource.Properties!;
    return [id, { ...resource, Type: 'AWS::DynamoDB::Table', Properties }];
  });
  return { ...template, Resources: Object.fromEntries(resources) };
}

/** Returns a template without the resources of unknown types, and with texts in place of references to them. */
function withTypes(template: Template, known: ReadonlySet<string>): Template {
  const kept = Object.entries(template.Resources).filter(([, { Type }]) => known.has(Type));
  const removed = new Set(Object.keys(template.Resources).filter((id) => !known.has(template.Resources[id]!.Type)));
  // moto reads no parameter of the type AWS::SSM::Parameter::Value<String> unless the account has it.
  const { Rules: _, ...rest } = template as Template & { Rules?: unknown };
  const { BootstrapVersion: __, ...Parameters } = (rest as any).Parameters ?? {};
  return withoutReferences({ ...rest, Parameters, Resources: Object.fromEntries(kept) }, removed) as Template;
}

function withoutReferences(node: any, removed: ReadonlySet<string>): any {
  if (Array.isArray(node)) return node.map((item) => withoutReferences(item, removed));
  if (typeof node !== 'object' || node === null) return node;
  const [id, attribute] = (node['Fn::GetAtt'] ?? [node.Ref]) as [id?: string, attribute?: string];
  // moto reads no outputs of a nested stack.
  if (id !== undefined && (removed.has(id) || attribute?.startsWith('Outputs.')))
    return `arn:aws:service:${REGION}:${ACCOUNT}:${id}`;
  const entries = Object.entries(node).map(([key, value]) => {
    const isList = key === 'DependsOn' && Array.isArray(value);
    return [key, isList ? value.filter((name) => !removed.has(name)) : withoutReferences(value, removed)];
  });
  return Object.fromEntries(entries.filter(([key, value]) => key !== 'DependsOn' || !removed.has(value)));
}

test('the templates create their stacks', async () => {
  const stacks = [];
  for await (const page of paginateDescribeStacks({ client: deployed.cloudFormation }, {}))
    stacks.push(...page.Stacks!);
  expect(new Set(stacks.map(({ StackStatus }) => StackStatus))).toEqual(new Set(['CREATE_COMPLETE']));
  expect(stacks).toHaveLength(1 + deployed.types.get('AWS::CloudFormation::Stack')!);
  const created = await Promise.all(
    stacks.map(({ StackName }) => deployed.cloudFormation.send(new DescribeStackResourcesCommand({ StackName }))),
  );
  const types = created.flatMap(({ StackResources }) => StackResources!.map(({ ResourceType }) => ResourceType!));
  const counts = Object.fromEntries([...Map.groupBy(types, (type) => type)].map(([type, all]) => [type, all.length]));
  expect(counts).toEqual(Object.fromEntries([...deployed.types].filter(([type]) => deployed.known.has(type))));
});

test('the created resources exist', async () => {
  const { StackResources } = await deployed.cloudFormation.send(
    new DescribeStackResourcesCommand({ StackName: STACK }),
  );
  const table = StackResources!.find(({ ResourceType }) => ResourceType === 'AWS::DynamoDB::Table');
  const { Table } = await new DynamoDBClient(client()).send(
    new DescribeTableCommand({ TableName: table!.PhysicalResourceId }),
  );
  expect(Table!.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  const { QueueUrls } = await new SQSClient(client()).send(new ListQueuesCommand({}));
  expect(QueueUrls).toHaveLength(deployed.types.get('AWS::SQS::Queue')!);
});

afterAll(() => {
  const unknown = [...deployed.types].filter(([type]) => !deployed.known.has(type));
  const lines = unknown.map(([type, count]) => `  ${String(count).padStart(4)}  ${type}`);
  process.stdout.write(`\nNot deployed, because moto does not know the type:\n${lines.join('\n')}\n\n`);
});
