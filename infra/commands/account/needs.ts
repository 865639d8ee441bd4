import { modelOfProfile } from '../../../lib/bedrock/inferenceProfile.ts';
import { queues } from '../../../lib/workers/queues.ts';
import type { Settings } from '../../settings/settings.ts';
import type { DeployedResource, StackTemplates } from '../templateChanges.ts';

export interface RequestLimits {
  readonly rate: number;
  readonly burst: number;
}

export interface ModelNeed {
  readonly setting: 'embeddingModel' | 'claudeModelId' | 'novaModelId';
  readonly id: string;
  readonly model: string;
  readonly isProfile: boolean;
}

export interface Needs {
  readonly concurrency: number;
  readonly queueConcurrency: number;
  readonly requests: RequestLimits;
  readonly table: { readonly type: string; readonly properties: readonly string[] };
  /** An address or a domain that must be verified in SES. */
  readonly mailIdentity: string | undefined;
  readonly models: readonly ModelNeed[];
}

export function needsOf(templates: StackTemplates, settings: Settings): Needs {
  const resources = allResources(templates);
  const [table, ...more] = resources.filter(({ Type }) => /^AWS::DynamoDB::(Global)?Table$/.test(Type));
  if (!table || more.length > 0) throw new Error('The templates must have exactly one table.');
  const limits = resources.filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Stage').flatMap(limitsOf);
  const { embeddingModel, accountConcurrency } = settings;
  return {
    concurrency: accountConcurrency,
    queueConcurrency: Object.values(queues).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0),
    requests: {
      rate: Math.max(0, ...limits.map(({ ThrottlingRateLimit = 0 }) => ThrottlingRateLimit)),
      burst: Math.max(0, ...limits.map(({ ThrottlingBurstLimit = 0 }) => ThrottlingBurstLimit)),
    },
    table: { type: table.Type, properties: Object.keys(table.Properties ?? {}) },
    mailIdentity: settings.mailIdentity ?? domainOf(settings.mailFrom),
    models: [
      ...modelNeed('embeddingModel', embeddingModel === 'lexical' ? undefined : embeddingModel),
      ...modelNeed('claudeModelId', settings.claudeModelId),
      ...modelNeed('novaModelId', settings.novaModelId),
    ],
  };
}

interface Limits {
  readonly ThrottlingRateLimit?: number;
  readonly ThrottlingBurstLimit?: number;
}

function limitsOf({ Properties = {} }: DeployedResource): Limits[] {
  const { DefaultRouteSettings = {}, RouteSettings = {} } = Properties as {
    DefaultRouteSettings?: Limits;
    RouteSettings?: Readonly<Record<string, Limits>>;
  };
  return [DefaultRouteSettings, ...Object.values(RouteSettings)];
}

function domainOf(address?: string): string | undefined {
  return address?.split('@').at(-1);
}

function modelNeed(setting: ModelNeed['setting'], id: string | undefined): ModelNeed[] {
  if (id === undefined) return [];
  const model = modelOfProfile(id);
  return [{ setting, id, model: model ?? id, isProfile: model !== undefined }];
}

function allResources({ resources, nested }: StackTemplates): DeployedResource[] {
  return [...Object.values(resources), ...[...nested.values()].flatMap(allResources)];
}
