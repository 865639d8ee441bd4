import { domainOf } from '../mail/eml.ts';

/** The account and region of everything that the local run makes up. */
export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';

/** What a template can ask of a resource by `Ref` and `Fn::GetAtt`. */
export interface Identity {
  readonly ref: string;
  attribute(name: string): string;
}

/** Types whose physical name a property can set, and which property that is. */
const nameProperties: Record<string, string> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::Events::Rule': 'Name',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::SecretsManager::Secret': 'Name',
  'AWS::SQS::Queue': 'QueueName',
};

const arns: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::Table': tableArn,
  'AWS::DynamoDB::GlobalTable': tableArn,
  'AWS::Events::Rule': (name) => `arn:aws:events:${REGION}:${ACCOUNT}:rule/${name}`,
  'AWS::IAM::Role': roleArn,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`,
  'AWS::SecretsManager::Secret': (name) => `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${name}`,
  'AWS::SQS::Queue': queueArn,
};

/** Where on this machine the API and AWS are reached. */
export interface Urls {
  readonly api: string;
  readonly aws: string;
}

/** Types whose `Ref` is something else than the name. */
const refs: Record<string, (name: string, arn: string, urls: Urls) => string> = {
  'AWS::SecretsManager::Secret': (_name, arn) => arn,
  'AWS::SQS::Queue': (name, _arn, { aws }) => queueUrl(aws, name),
};

/** What `Fn::GetAtt` gives of a type besides the ARN. */
const attributesOf: Record<string, (name: string, arn: string, urls: Urls) => Record<string, string>> = {
  'AWS::ApiGatewayV2::Api': (_name, _arn, { api }) => ({ ApiEndpoint: api }),
  'AWS::DynamoDB::Table': (_name, arn) => ({ StreamArn: streamArn(arn) }),
  'AWS::DynamoDB::GlobalTable': (_name, arn) => ({ StreamArn: streamArn(arn) }),
  'AWS::SQS::Queue': (name) => ({ QueueName: name }),
};

/**
 * The made-up identity of a resource: but for addresses the same at every start, as what is stored refers to it. Types that
 * nothing here runs get one too, because the environment or a policy may mention them.
 */
export function identityOf(
  type: string,
  generatedName: string,
  property: (name: string) => unknown,
  urls: Urls,
): Identity {
  const given = nameProperties[type] === undefined ? undefined : property(nameProperties[type]);
  const name = given === undefined ? generatedName : String(given);
  const service = type.split('::')[1]?.toLowerCase() ?? 'local';
  const arn = arns[type]?.(name) ?? `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`;
  const attributes: Record<string, string> = { Arn: arn, ...attributesOf[type]?.(name, arn, urls) };
  return {
    ref: refs[type]?.(name, arn, urls) ?? name,
    attribute: (attribute) => attributes[attribute] ?? `${name}.${attribute}`,
  };
}

export function tableArn(name: string): string {
  return `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
}

/** A table has one stream here. */
export function streamArn(ofTable: string): string {
  return `${ofTable}/stream/local`;
}

export function queueArn(name: string): string {
  return `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;
}

/** On the local AWS endpoint, because the SDK sends to the host in a queue's URL unless it is told not to. */
export function queueUrl(awsUrl: string, name: string): string {
  return `${awsUrl}/${ACCOUNT}/${name}`;
}

/** The SES identity that an address belongs to, with or without a name before it: its domain. */
export function mailIdentityArn(mailbox: string): string {
  return `arn:aws:ses:${REGION}:${ACCOUNT}:identity/${domainOf(mailbox)}`;
}

export function configurationSetArn(name: string): string {
  return `arn:aws:ses:${REGION}:${ACCOUNT}:configuration-set/${name}`;
}

export function roleArn(name: string): string {
  return `arn:aws:iam::${ACCOUNT}:role/${name}`;
}
