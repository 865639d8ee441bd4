/** What an update of a stack would take away, told from its two templates: pure, so that it can be tried without an account. */
import { isDeepStrictEqual } from 'node:util';

export interface DeployedResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A template with those of the stacks nested in it, by the logical ids that these have in it. */
export interface StackTemplates {
  readonly resources: Readonly<Record<string, DeployedResource>>;
  readonly nested: ReadonlyMap<string, StackTemplates>;
}

export interface Finding {
  /** The logical id, those of the nested stacks around it before it: `Workers/Sweep`. */
  readonly id: string;
  readonly type: string;
  readonly text: string;
}

export interface Verdict {
  /** What must not happen unasked. */
  readonly refused: readonly Finding[];
  /** What goes, and may. */
  readonly deleted: readonly Finding[];
}

interface StatefulType {
  /** What is lost with such a resource. */
  readonly holds: string;
  /**
   * The properties that CloudFormation changes in place without touching what the resource holds. A change of any other is taken for a
   * replacement: what is not known here is refused, rather than let through.
   */
  readonly inPlace: readonly string[];
  /** Whether it must outlive its stack. */
  readonly retained?: true;
}

const stateful: Readonly<Record<string, StatefulType>> = {
  'AWS::DynamoDB::Table': {
    holds: 'all data',
    inPlace: [
      'AttributeDefinitions',
      'BillingMode',
      'ContributorInsightsSpecification',
      'DeletionProtectionEnabled',
      'GlobalSecondaryIndexes',
      'OnDemandThroughput',
      'PointInTimeRecoverySpecification',
      'Tags',
      'TimeToLiveSpecification',
    ],
    retained: true,
  },
  // Not GenerateSecretString: CloudFormation generates a new value when it changes, and puts it in the place of the old one.
  'AWS::SecretsManager::Secret': {
    holds: 'the keys under which data is sealed and tokens are signed',
    inPlace: ['Description', 'Tags'],
    retained: true,
  },
  'AWS::SQS::Queue': {
    holds: 'messages, also those that somebody has to look at',
    inPlace: [
      'DelaySeconds',
      'KmsDataKeyReusePeriodSeconds',
      'KmsMasterKeyId',
      'MaximumMessageSize',
      'MessageRetentionPeriod',
      'ReceiveMessageWaitTimeSeconds',
      'RedriveAllowPolicy',
      'RedrivePolicy',
      'SqsManagedSseEnabled',
      'Tags',
      'VisibilityTimeout',
    ],
  },
  'AWS::ApiGatewayV2::Api': {
    holds: 'the address that customers call',
    inPlace: ['CorsConfiguration', 'Description', 'DisableExecuteApiEndpoint', 'Name', 'Tags', 'Version'],
  },
  'AWS::ApiGatewayV2::DomainName': {
    holds: 'the target of the DNS record',
    inPlace: ['DomainNameConfigurations', 'MutualTlsAuthentication', 'Tags'],
  },
  'AWS::S3::Bucket': { holds: 'objects', inPlace: ['Tags'], retained: true },
  'AWS::KMS::Key': {
    holds: 'the key under which data is sealed',
    inPlace: ['Description', 'EnableKeyRotation', 'Tags'],
    retained: true,
  },
};

/** Whether resources of a type hold what must not be lost. */
export const holdsState = (type: string): boolean => Object.hasOwn(stateful, type);

const NESTED = 'AWS::CloudFormation::Stack';

/** What would go if `before` became `after`. `allowed` are ids for which the operator has decided. */
export function judgeUpdate(
  before: StackTemplates,
  after: StackTemplates,
  allowed: ReadonlySet<string> = new Set(),
): Verdict {
  const changes = changesIn('', before, after);
  return {
    refused: changes
      .filter(({ refused, id }) => refused && !allowed.has(id))
      .map(({ refused: _, ...finding }) => finding),
    deleted: changes
      .filter(({ refused, id }) => !refused || allowed.has(id))
      .map(({ refused: _, ...finding }) => finding),
  };
}

type Change = Finding & { readonly refused: boolean };

function changesIn(path: string, before: StackTemplates, after: StackTemplates | undefined): Change[] {
  return Object.entries(before.resources).flatMap(([logicalId, old]): Change[] => {
    const id = path + logicalId;
    const now = after?.resources[logicalId];
    const own = now?.Type === old.Type ? changed(id, old, now) : [gone(id, old)];
    if (old.Type !== NESTED) return own;
    const stillNested = now?.Type === NESTED ? after?.nested.get(logicalId) : undefined;
    const inside = before.nested.get(logicalId);
    return inside ? [...own, ...changesIn(`${id}/`, inside, stillNested)] : own;
  });
}

function gone(id: string, { Type: type }: DeployedResource): Change {
  const kind = stateful[type];
  return {
    id,
    type,
    refused: kind !== undefined,
    text: kind === undefined ? 'is deleted' : `is no longer in the template, and with it ${kind.holds}`,
  };
}

function changed(id: string, old: DeployedResource, now: DeployedResource): Change[] {
  const { Type: type } = old;
  const kind = stateful[type];
  if (!kind) return [];
  const refuse = (text: string): Change => ({ id, type, refused: true, text });
  const names = [...new Set([...Object.keys(old.Properties ?? {}), ...Object.keys(now.Properties ?? {})])].sort();
  const differing = names.filter((name) => !isDeepStrictEqual(old.Properties?.[name], now.Properties?.[name]));
  const unknown = differing.filter((name) => !kind.inPlace.includes(name));
  const policies = ['DeletionPolicy', 'UpdateReplacePolicy'] as const;
  return [
    ...(unknown.length > 0
      ? [
          refuse(
            `may be replaced, or filled anew, because ${unknown.join(' and ')} ${unknown.length > 1 ? 'change' : 'changes'}; it holds ${kind.holds}`,
          ),
        ]
      : []),
    ...(kind.retained
      ? policies
          .filter((policy) => now[policy] !== 'Retain')
          .map((policy) => refuse(`would not outlive its stack: ${policy} is not Retain`))
      : []),
    ...(old.Properties?.DeletionProtectionEnabled === true && now.Properties?.DeletionProtectionEnabled !== true
      ? [refuse('loses its protection against deletion')]
      : []),
    ...indexChanges(old, now).map(refuse),
  ];
}

/** CloudFormation makes or removes one index of a table per update, and a removed one is gone with what only it could find. */
function indexChanges(old: DeployedResource, now: DeployedResource): string[] {
  const indexes = ({ Properties = {} }: DeployedResource) =>
    new Map(
      ((Properties.GlobalSecondaryIndexes ?? []) as { IndexName: string }[]).map((index) => [index.IndexName, index]),
    );
  const [had, has] = [indexes(old), indexes(now)];
  const removed = [...had.keys()].filter((name) => !has.has(name));
  const added = [...has.keys()].filter((name) => !had.has(name));
  const remade = [...has]
    .filter(([name, index]) => had.has(name) && !isDeepStrictEqual(had.get(name), index))
    .map(([name]) => name);
  return [
    ...(removed.length > 0 ? [`loses the index ${removed.join(' and ')}`] : []),
    ...(remade.length > 0
      ? [`has another definition of the index ${remade.join(' and ')}, which would have to be made anew`]
      : []),
    ...(removed.length + added.length > 1
      ? [
          `changes ${removed.length + added.length} indexes (${[...removed, ...added].join(', ')}), of which CloudFormation changes one per update`,
        ]
      : []),
  ];
}
