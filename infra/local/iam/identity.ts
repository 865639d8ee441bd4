export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';

export interface Identity {
  readonly ref: string;
  readonly attribute: (name: string) => string;
}

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
  'AWS::AppSync::Api': (name) => `arn:aws:appsync:${REGION}:${ACCOUNT}:apis/${name}`,
  'AWS::DynamoDB::Table': tableArn,
  'AWS::DynamoDB::GlobalTable': tableArn,
  'AWS::Events::Rule': (name) => `arn:aws:events:${REGION}:${ACCOUNT}:rule/${name}`,
  'AWS::IAM::Role': roleArn,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`,
  'AWS::SecretsManager::Secret': (name) => `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${name}`,
  'AWS::SQS::Queue': queueArn,
};

export interface Urls {
  readonly api: string;
  readonly aws: string;
  /** Undefined if the Event API is not started. */
  readonly live?: string;
}

/** The value of `Ref`, if it is not the physical name. */
const refs: Record<string, (name: string, arn: string, urls: Urls) => string> = {
  'AWS::SecretsManager::Secret': (_name, arn) => arn,
  'AWS::SQS::Queue': (name, _arn, { aws }) => queueUrl(aws, name),
};

const attributesOf: Record<string, (name: string, arn: string, urls: Urls) => Record<string, string>> = {
  'AWS::ApiGatewayV2::Api': (_name, _arn, { api }) => ({ ApiEndpoint: api }),
  'AWS::AppSync::Api': (name, arn, { live = '' }) => {
    const host = live.replace(/^http:\/\//, '');
    return { ApiArn: arn, ApiId: name, 'Dns.Http': host, 'Dns.Realtime': host };
  },
  'AWS::DynamoDB::Table': (_name, arn) => ({ StreamArn: streamArn(arn) }),
  'AWS::DynamoDB::GlobalTable': (_name, arn) => ({ StreamArn: streamArn(arn) }),
  'AWS::SQS::Queue': (name) => ({ QueueName: name }),
};

/** Stored data contains these values, so except for URLs they are the same at every start. */
export function identityOf(
  type: string,
  generatedName: string,
  property: (name: string) => unknown,
  urls: Urls,
): Identity {
  const physicalName =
    nameProperties[type] === undefined ? undefined : (property(nameProperties[type]) as string | undefined);
  const name = physicalName ?? generatedName;
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

export function streamArn(ofTable: string): string {
  return `${ofTable}/stream/local`;
}

export function queueArn(name: string): string {
  return `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;
}

export function queueUrl(awsUrl: string, name: string): string {
  return `${awsUrl}/${ACCOUNT}/${name}`;
}

export function roleArn(name: string): string {
  return `arn:aws:iam::${ACCOUNT}:role/${name}`;
}
