/** Reads an AWS account with the credentials and the region of the environment. Changes nothing. */
import { explanation } from '../operator.ts';
import type { ModelNeed, Needs } from './needs.ts';
import type { ModelAccess, Reading, Readings } from './readings.ts';

export async function readAccount({ table, mailIdentity, models: modelNeeds }: Needs): Promise<Readings> {
  const [concurrency, requests, tableProperties, mail, isMailIdentityVerified, ...models] = await Promise.all([
    reading('lambda:GetAccountSettings', readConcurrency),
    reading('apigateway:GET for /account', readRequestLimits),
    reading('cloudformation:DescribeType', () => readProperties(table.type)),
    mailIdentity === undefined ? undefined : reading('ses:GetAccount', readMailAccount),
    mailIdentity === undefined ? undefined : reading('ses:GetEmailIdentity', () => readIdentity(mailIdentity)),
    ...modelNeeds.map(async (need) => [need.id, await readModel(need)] as const),
  ]);
  return {
    concurrency,
    requests,
    tableProperties,
    ...(mail && { mail }),
    ...(isMailIdentityVerified && { isMailIdentityVerified }),
    models: new Map(models),
  };
}

async function reading<T>(action: string, read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    return /^AccessDenied/.test((error as Error).name) ? { denied: action } : { failed: explanation(error as Error) };
  }
}

async function readConcurrency(): Promise<number> {
  const { GetAccountSettingsCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const { AccountLimit } = await new LambdaClient().send(new GetAccountSettingsCommand());
  return AccountLimit?.ConcurrentExecutions ?? 0;
}

/** Asks API Gateway, because Service Quotas can show higher limits than those that hold in the region. */
async function readRequestLimits() {
  const { APIGatewayClient, GetAccountCommand } = await import('@aws-sdk/client-api-gateway');
  const { throttleSettings } = await new APIGatewayClient().send(new GetAccountCommand());
  return { rate: throttleSettings?.rateLimit ?? 0, burst: throttleSettings?.burstLimit ?? 0 };
}

async function readProperties(type: string): Promise<readonly string[]> {
  const { CloudFormationClient, DescribeTypeCommand } = await import('@aws-sdk/client-cloudformation');
  const { Schema = '{}' } = await new CloudFormationClient().send(
    new DescribeTypeCommand({ Type: 'RESOURCE', TypeName: type }),
  );
  const { properties = {} } = JSON.parse(Schema) as { properties?: Readonly<Record<string, unknown>> };
  return Object.keys(properties);
}

async function readMailAccount() {
  const { GetAccountCommand, SESv2Client } = await import('@aws-sdk/client-sesv2');
  const { ProductionAccessEnabled, SendingEnabled, SuppressionAttributes } = await new SESv2Client().send(
    new GetAccountCommand(),
  );
  return {
    isInSandbox: ProductionAccessEnabled !== true,
    isSendingEnabled: SendingEnabled === true,
    suppressedReasons: SuppressionAttributes?.SuppressedReasons ?? [],
  };
}

async function readIdentity(identity: string): Promise<boolean> {
  const { GetEmailIdentityCommand, NotFoundException, SESv2Client } = await import('@aws-sdk/client-sesv2');
  try {
    const { VerifiedForSendingStatus } = await new SESv2Client().send(
      new GetEmailIdentityCommand({ EmailIdentity: identity }),
    );
    return VerifiedForSendingStatus === true;
  } catch (error) {
    if (error instanceof NotFoundException) return false;
    throw error;
  }
}

async function readModel({ id, model, isProfile }: ModelNeed): Promise<Reading<ModelAccess>> {
  const { BedrockClient, GetFoundationModelAvailabilityCommand, GetInferenceProfileCommand } =
    await import('@aws-sdk/client-bedrock');
  const client = new BedrockClient();
  if (isProfile) {
    const profile = await reading('bedrock:GetInferenceProfile', () =>
      unlessMissing(client.send(new GetInferenceProfileCommand({ inferenceProfileIdentifier: id }))),
    );
    if (!('value' in profile)) return profile;
    if (!profile.value) return { value: missingModel };
  }
  return reading('bedrock:GetFoundationModelAvailability', async () => {
    const answer = await unlessMissing(client.send(new GetFoundationModelAvailabilityCommand({ modelId: model })));
    if (!answer) return missingModel;
    const { regionAvailability, authorizationStatus, entitlementAvailability, agreementAvailability } = answer;
    return {
      // An inference profile can have its model in other regions only.
      exists: isProfile || regionAvailability === 'AVAILABLE',
      isAuthorized: authorizationStatus === 'AUTHORIZED' && entitlementAvailability === 'AVAILABLE',
      agreement: agreementAvailability?.status ?? 'unknown',
    };
  });
}

const missingModel: ModelAccess = { exists: false, isAuthorized: false, agreement: 'unknown' };

/** For an unknown id, Bedrock throws one of two errors. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (/^(ResourceNotFound|Validation)Exception$/.test((error as Error).name)) return undefined;
    throw error;
  }
}
