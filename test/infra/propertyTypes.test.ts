import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { registeredRoutes, registeredWorkers } from '../../infra/build/registry.ts';
import { ProcessValidatePlugin } from '../support/processValidatePlugin.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { isReference, type Resource, resources, synthesised, type Template, templateTexts } from './assembly.ts';
import { certificateArn, domainName } from './endpoints.ts';

type Path = readonly (string | number)[];
type Properties = Resource['Properties'];

/** Settings with which a deployment has every type of resource. */
const everything = {
  alarmEmail: 'ops@example.com',
  mailFrom: 'no-reply@example.com',
  domainName,
  certificateArn,
  live: 'on',
  heartbeat: 'on',
  restoredOn: '2026-11-28',
} as const;

const reference = z.record(z.string(), z.unknown()).refine(isReference);
const text = z.union([z.string(), reference]);
const action = z.string().regex(/^[a-z0-9-]+:(\*|[A-Za-z]+)$/);
const actions = z.union([action, z.array(action).min(1)]);
const statement = z.strictObject({
  Effect: z.enum(['Allow', 'Deny']),
  Action: actions,
  Resource: z.union([text, z.array(text)]).optional(),
  Principal: z.union([z.literal('*'), z.record(z.string(), text)]).optional(),
  Condition: z.record(z.string(), z.record(z.string(), z.union([text, z.array(text)]))).optional(),
  Sid: z.string().optional(),
});
const policy = z.strictObject({ Version: z.literal('2012-10-17'), Statement: z.array(statement) });

/**
 * Properties whose contents CloudFormation's schemas do not check, by type of resource. AWS still rejects wrong
 * contents.
 */
const openProperties: Readonly<Record<string, z.ZodType>> = {
  'AWS::ApiGatewayV2::Api': z.looseObject({ ProtocolType: z.enum(['HTTP', 'WEBSOCKET']) }),
  'AWS::ApiGatewayV2::DomainName': z.looseObject({
    DomainNameConfigurations: z.array(
      z.looseObject({ EndpointType: z.literal('REGIONAL'), SecurityPolicy: z.literal('TLS_1_2') }),
    ),
  }),
  'AWS::ApiGatewayV2::Integration': z.looseObject({
    IntegrationType: z.enum(['AWS', 'AWS_PROXY', 'HTTP', 'HTTP_PROXY', 'MOCK']),
    PayloadFormatVersion: z.enum(['1.0', '2.0']),
  }),
  'AWS::ApiGatewayV2::Stage': z.looseObject({
    RouteSettings: z.record(
      z.string(),
      z.strictObject({ ThrottlingRateLimit: z.number(), ThrottlingBurstLimit: z.int() }),
    ),
  }),
  'AWS::CloudWatch::Alarm': z.looseObject({ EvaluationPeriods: z.int() }),
  'AWS::CloudFormation::Stack': z.looseObject({ Parameters: z.record(z.string(), text).optional() }),
  'AWS::DynamoDB::GlobalTable': z.looseObject({
    KeySchema: z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) })),
  }),
  'AWS::IAM::Role': z.looseObject({
    AssumeRolePolicyDocument: policy,
    Policies: z.array(z.strictObject({ PolicyName: z.string(), PolicyDocument: policy })).optional(),
  }),
  'AWS::Lambda::Function': z.looseObject({
    Code: z.strictObject({ ZipFile: z.string() }),
    Environment: z.strictObject({ Variables: z.record(z.string(), text) }).optional(),
  }),
  'AWS::SNS::Subscription': z.looseObject({ Protocol: z.literal('email') }),
  'AWS::SNS::TopicPolicy': z.looseObject({ PolicyDocument: policy }),
  'AWS::SQS::Queue': z.looseObject({
    RedrivePolicy: z.strictObject({ deadLetterTargetArn: text, maxReceiveCount: z.int() }).optional(),
  }),
  'AWS::SQS::QueuePolicy': z.looseObject({ PolicyDocument: policy }),
};

/** Properties for which AWS accepts only some values. The check must therefore find an unknown text in them. */
const enumerations = [
  'AWS::ApiGatewayV2::Api ProtocolType',
  'AWS::ApiGatewayV2::DomainName DomainNameConfigurations.*.EndpointType',
  'AWS::ApiGatewayV2::DomainName DomainNameConfigurations.*.SecurityPolicy',
  'AWS::ApiGatewayV2::Integration IntegrationType',
  'AWS::AppSync::Api EventConfig.AuthProviders.*.AuthType',
  'AWS::CloudWatch::Alarm ComparisonOperator',
  'AWS::CloudWatch::Alarm TreatMissingData',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions.*.AttributeType',
  'AWS::DynamoDB::GlobalTable BillingMode',
  'AWS::DynamoDB::GlobalTable GlobalSecondaryIndexes.*.Projection.ProjectionType',
  'AWS::DynamoDB::GlobalTable KeySchema.*.KeyType',
  'AWS::DynamoDB::GlobalTable StreamSpecification.StreamViewType',
  'AWS::DynamoDB::GlobalTable VectorIndexes.*.DistanceFunction',
  'AWS::DynamoDB::GlobalTable VectorIndexes.*.SearchSchema.*.SearchSchemaElementType',
  'AWS::IAM::Role AssumeRolePolicyDocument.Statement.*.Effect',
  'AWS::Lambda::EventSourceMapping FunctionResponseTypes.*',
  'AWS::Lambda::EventSourceMapping StartingPosition',
  'AWS::Lambda::Function Architectures.*',
  'AWS::Lambda::Function Runtime',
  'AWS::SNS::Subscription Protocol',
];

const required = [
  'AWS::ApiGatewayV2::Integration ApiId',
  'AWS::ApiGatewayV2::Route RouteKey',
  'AWS::ApiGatewayV2::Stage StageName',
  'AWS::AppSync::ChannelNamespace Name',
  'AWS::CloudWatch::Alarm EvaluationPeriods',
  'AWS::CloudWatch::CompositeAlarm AlarmRule',
  'AWS::CloudWatch::Dashboard DashboardBody',
  'AWS::DynamoDB::GlobalTable KeySchema',
  'AWS::DynamoDB::GlobalTable Replicas.*.Region',
  'AWS::DynamoDB::GlobalTable VectorIndexes.*.Dimensions',
  'AWS::IAM::Role AssumeRolePolicyDocument',
  'AWS::Lambda::EventSourceMapping FunctionName',
  'AWS::Lambda::Function Code',
  'AWS::Lambda::Function Role',
  'AWS::Lambda::Permission Principal',
  'AWS::Logs::QueryDefinition QueryString',
  'AWS::SNS::Subscription TopicArn',
];

interface Example {
  /** A type of resource and the path of a property, such as `AWS::SQS::Queue VisibilityTimeout`. */
  readonly name: string;
  readonly resource: Resource;
  readonly path: Path;
}

/** The rules that templates break, by path of the template and logical id. */
type Faults = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** A resource with one changed property. */
interface Copy {
  readonly example: Example;
  readonly properties: Properties;
}

const folder = temporaryFolder();
let templates: string[];
let examples: Map<string, Example>;
let faults: Faults;
let copies: Record<'wrongType' | 'wrongValue' | 'missing' | 'misspelt', readonly Copy[]>;
beforeAll(() => {
  const { outdir } = synthesised(registeredRoutes(), everything, { workers: registeredWorkers() });
  const texts = templateTexts(outdir);
  templates = [...texts.keys()].map((name) => join(outdir, name));
  examples = examplesOf([...texts.values()].map((text) => JSON.parse(text) as Template));
  copies = {
    wrongType: copiesOf([...examples.values()], (value) =>
      typeof value === 'object' && !isReference(value) ? 'wrong' : ['wrong', { Wrong: 1 }],
    ),
    wrongValue: copiesOf(enumerations.map(exampleOf), () => 'WRONG'),
    missing: copiesOf(required.map(exampleOf), () => undefined),
    misspelt: copiesOf(
      [...Map.groupBy(examples.values(), ({ resource }) => resource.Type).values()].map(([first]) => ({
        ...first!,
        path: ['Wrongly'],
      })),
      () => 'wrong',
    ),
  };
  // One check of all templates, because starting a check costs more time than checking a template.
  faults = faultsIn([...templates, ...Object.entries(copies).flatMap(([name, all]) => writeCopies(name, all))]);
});

/** Returns the paths of all properties and of their parts. References are not entered. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const own = path.length > 0 ? [path] : [];
  if (typeof value !== 'object' || value === null || isReference(value)) return own;
  const keys = Array.isArray(value) ? value.map((_item, index) => index) : Object.keys(value);
  return [...own, ...keys.flatMap((key) => pathsIn((value as Properties)[key], [...path, key]))];
}

/** Returns one resource for each pair of type and property. */
function examplesOf(all: readonly Template[]): Map<string, Example> {
  const found = new Map<string, Example>();
  for (const [, resource] of resources(all))
    for (const path of pathsIn(resource.Properties)) {
      const name = `${resource.Type} ${path.map((key) => (typeof key === 'number' ? '*' : key)).join('.')}`;
      if (!found.has(name)) found.set(name, { name, resource, path });
    }
  return found;
}

/**
 * Returns a copy of the properties in which `change` has replaced the value at a path. If `change` returns undefined,
 * the property is removed.
 */
function changed({ resource, path }: Example, change: (value: unknown) => unknown): Properties {
  const properties = structuredClone(resource.Properties);
  const parent = path.slice(0, -1).reduce((value, key) => value[key], properties);
  const last = path.at(-1)!;
  const value = change(parent[last]);
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
  return properties;
}

function copiesOf(changes: readonly Example[], change: (value: unknown) => unknown): Copy[] {
  return changes.map((example) => ({ example, properties: changed(example, change) }));
}

const copyId = (index: number): string => `Copy${index}`;
const unchangedFile = (name: string): string => join(folder, `${name}Unchanged.json`);
const changedFile = (name: string): string => join(folder, `${name}Changed.json`);

/** Writes a template with the changed resources, and one with the same resources as they were. Returns both paths. */
function writeCopies(name: string, all: readonly Copy[]): string[] {
  const write = (file: string, propertiesOf: (copy: Copy) => Properties) => {
    const Resources = Object.fromEntries(
      all.map((copy, index) => [copyId(index), { ...copy.example.resource, Properties: propertiesOf(copy) }]),
    );
    writeFileSync(file, JSON.stringify({ Resources }));
    return file;
  };
  return [
    write(unchangedFile(name), ({ example }) => example.resource.Properties),
    write(changedFile(name), ({ properties }) => properties),
  ];
}

/** Returns the rules that templates break, by path of the template and logical id. */
function faultsIn(paths: readonly string[]): Faults {
  const stackTemplates = paths.map((templatePath) => ({
    stackConstructPath: 'Stack',
    templatePath,
    accountId: '123456789012',
    region: 'eu-central-1',
  }));
  const found = new Map(paths.map((path) => [path, new Map<string, string[]>()]));
  // Warnings count too. The check gives only a warning for an unknown value of an enumeration.
  for (const { ruleName, description, violatingResources } of new ProcessValidatePlugin().validate({ stackTemplates })
    .violations)
    for (const { resourceLogicalId = '', templatePath = '' } of violatingResources) {
      const ofTemplate = found.get(templatePath)!;
      ofTemplate.set(resourceLogicalId, [...(ofTemplate.get(resourceLogicalId) ?? []), `${ruleName} ${description}`]);
    }
  return found;
}

/**
 * Returns the names of the examples whose changed copies break no new rule. Even unchanged copies break rules, because
 * the resources to which they refer are missing.
 */
function overlooked(name: keyof typeof copies): string[] {
  const before = faults.get(unchangedFile(name))!;
  const after = faults.get(changedFile(name))!;
  return copies[name]
    .filter(({ example: { resource }, properties }, index) => {
      const known = new Set(before.get(copyId(index)));
      const hasNewFault = (after.get(copyId(index)) ?? []).some((fault) => !known.has(fault));
      return !hasNewFault && (openProperties[resource.Type]?.safeParse(properties).success ?? true);
    })
    .map(({ example }) => example.name);
}

const exampleOf = (name: string): Example => {
  const example = examples.get(name);
  if (!example) throw new Error(`No resource has ${name}`);
  return example;
};

describe('the property type check of templates', () => {
  test('accepts the templates of a deployment with every setting', () => {
    expect(templates.flatMap((file) => [...faults.get(file)!])).toEqual([]);
    for (const file of templates)
      for (const [, { Type, Properties }] of resources(JSON.parse(readFileSync(file, 'utf8')) as Template))
        expect([Type, openProperties[Type]?.safeParse(Properties).error]).toEqual([Type, undefined]);
  });

  test('finds a wrong type in every property of every resource', () => {
    expect(copies.wrongType.length).toBeGreaterThan(300);
    expect(overlooked('wrongType')).toEqual([]);
  });

  test('finds a wrong value in every enumeration', () => {
    expect(overlooked('wrongValue')).toEqual([]);
  });

  test('finds every missing required property', () => {
    expect(overlooked('missing')).toEqual([]);
  });

  test('finds misspelt names of properties', () => {
    expect(copies.misspelt.length).toBeGreaterThan(20);
    expect(overlooked('misspelt')).toEqual([]);
  });
});
