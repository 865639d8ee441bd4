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
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::SecretsManager::Secret': 'Name',
};

const arns: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::Table': tableArn,
  'AWS::DynamoDB::GlobalTable': tableArn,
  'AWS::IAM::Role': roleArn,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`,
  'AWS::SecretsManager::Secret': (name) => `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${name}`,
};

/** Types whose `Ref` is the ARN and not the name. */
const refersByArn = new Set(['AWS::SecretsManager::Secret']);

/**
 * The made-up identity of a resource: the same at every start, as what is stored refers to it. Types that nothing here
 * runs get one too, because the environment or a policy may mention them. `apiUrl` is where the API is reached.
 */
export function identityOf(type: string, generatedName: string, property: (name: string) => unknown, apiUrl: string): Identity {
  const given = nameProperties[type] === undefined ? undefined : property(nameProperties[type]);
  const name = given === undefined ? generatedName : String(given);
  const service = type.split('::')[1]?.toLowerCase() ?? 'local';
  const arn = arns[type]?.(name) ?? `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`;
  const attributes: Record<string, string> = { Arn: arn, ...(type === 'AWS::ApiGatewayV2::Api' && { ApiEndpoint: apiUrl }) };
  return {
    ref: refersByArn.has(type) ? arn : name,
    attribute: (attribute) => attributes[attribute] ?? `${name}.${attribute}`,
  };
}

export function tableArn(name: string): string {
  return `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
}

/** The SES identity that an address belongs to: its domain. */
export function mailIdentityArn(address: string): string {
  return `arn:aws:ses:${REGION}:${ACCOUNT}:identity/${address.slice(address.lastIndexOf('@') + 1)}`;
}

export function roleArn(name: string): string {
  return `arn:aws:iam::${ACCOUNT}:role/${name}`;
}
