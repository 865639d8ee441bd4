/**
 * Compares the templates before and after an update: finds the resources that it deletes, and refuses changes that may
 * fail or lose state.
 */
import { isDeepStrictEqual } from 'node:util';

export interface DeployedResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface StackTemplates {
  readonly resources: Readonly<Record<string, DeployedResource>>;
  readonly nested: ReadonlyMap<string, StackTemplates>;
}

export interface Finding {
  /** Logical ids of the nested stacks and of the resource, such as `Workers/Sweep`. */
  readonly id: string;
  readonly type: string;
  readonly text: string;
}

export interface UpdateCheck {
  readonly refused: readonly Finding[];
  readonly deleted: readonly Finding[];
}

interface StatefulType {
  readonly holds: string;
  /** Properties that CloudFormation can change without losing state. */
  readonly inPlace: readonly string[];
}

const stateful: Readonly<Record<string, StatefulType>> = {
  'AWS::DynamoDB::GlobalTable': {
    holds: 'all data',
    inPlace: [
      'AttributeDefinitions',
      'BillingMode',
      'GlobalSecondaryIndexes',
      'ReadOnDemandThroughputSettings',
      'Replicas.ContributorInsightsSpecification',
      'Replicas.DeletionProtectionEnabled',
      'Replicas.PointInTimeRecoverySpecification',
      'Replicas.ReadOnDemandThroughputSettings',
      'Replicas.SSESpecification',
      'Replicas.Tags',
      'SSESpecification',
      'TimeToLiveSpecification',
      'WriteOnDemandThroughputSettings',
    ],
  },
  // This source no longer creates this type, but a deployed stack may have it.
  'AWS::DynamoDB::Table': { holds: 'all data', inPlace: [] },
  // `GenerateSecretString` is missing, because its change generates a new value that overwrites the old one.
  'AWS::SecretsManager::Secret': {
    holds: 'keys or credentials',
    inPlace: ['Description', 'KmsKeyId', 'Tags'],
  },
  'AWS::SQS::Queue': {
    holds: 'messages, including dead letters',
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
};

export const holdsState = (type: string): boolean => Object.hasOwn(stateful, type);

const NESTED = 'AWS::CloudFormation::Stack';
const ROUTE = 'AWS::ApiGatewayV2::Route';
/** The CDK CLI can add this resource to the templates that it deploys. Those of `npm run check:deploy` lack it. */
const CDK_METADATA = 'AWS::CDK::Metadata';

export function checkUpdate(
  before: StackTemplates,
  after: StackTemplates,
  allowed: ReadonlySet<string> = new Set(),
): UpdateCheck {
  const moved = movedRoutes(before, after);
  const changes = [
    ...changesIn('', before, after).filter(({ id }) => !moved.some((route) => route.id === id)),
    ...moved,
  ];
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
    if (old.Type === CDK_METADATA) return [];
    const now = after?.resources[logicalId];
    const own = now?.Type === old.Type ? changesOf(id, old, now) : [deletedChange(id, old)];
    if (old.Type !== NESTED) return own;
    const stillNested = now?.Type === NESTED ? after?.nested.get(logicalId) : undefined;
    const inside = before.nested.get(logicalId);
    return inside ? [...own, ...changesIn(`${id}/`, inside, stillNested)] : own;
  });
}

/** Finds route keys that get another resource, for example in the stack of another family. */
function movedRoutes(before: StackTemplates, after: StackTemplates): Change[] {
  const now = routeIds('', after);
  return [...routeIds('', before)].flatMap(([key, id]) => {
    const next = now.get(key);
    if (next === undefined || next === id) return [];
    return {
      id,
      type: ROUTE,
      refused: true,
      text: `has the route key "${key}" that ${next} gets. The update would fail, because CloudFormation creates the new route first, and an API has one route for each key. Deploy twice: first without this route key, then with it. Between the deployments, its calls get 404`,
    };
  });
}

function routeIds(path: string, { resources, nested }: StackTemplates): Map<string, string> {
  const own = Object.entries(resources)
    .filter(([, { Type }]) => Type === ROUTE)
    .map(([logicalId, { Properties }]) => [String(Properties?.RouteKey), path + logicalId] as const);
  return new Map([...own, ...[...nested].flatMap(([id, stack]) => [...routeIds(`${path}${id}/`, stack)])]);
}

function deletedChange(id: string, { Type: type }: DeployedResource): Change {
  const kind = stateful[type];
  return {
    id,
    type,
    refused: kind !== undefined,
    text: kind === undefined ? 'is deleted' : `is removed, and with it ${kind.holds}`,
  };
}

/** `RetainExceptOnCreate` deletes a resource only if the deployment that creates it fails. */
function isRetained(policy: string | undefined): boolean {
  return policy === 'Retain' || policy === 'RetainExceptOnCreate';
}

function changesOf(id: string, old: DeployedResource, now: DeployedResource): Change[] {
  const { Type: type } = old;
  const kind = stateful[type];
  if (!kind) return [];
  const refuse = (text: string): Change => ({ id, type, refused: true, text });
  const differing = differingProperties(old, now);
  const unknown = differing.filter((name) => !kind.inPlace.includes(name));
  const policies = ['DeletionPolicy', 'UpdateReplacePolicy'] as const;
  return [
    ...(unknown.length > 0
      ? [
          refuse(
            `may be replaced or get a new value, because ${unknown.join(' and ')} ${unknown.length > 1 ? 'change' : 'changes'}. It holds ${kind.holds}`,
          ),
        ]
      : []),
    ...policies
      .filter((policy) => isRetained(old[policy]) && !isRetained(now[policy]))
      .map((policy) => refuse(`would be deleted with its stack: ${policy} is not Retain`)),
    ...replicaLosses(old, now).map(refuse),
    ...indexChanges(old, now).map(refuse),
  ];
}

/** Names properties of replicas such as `Replicas.Tags`. Ignores a replica that only one of the two tables has. */
function differingProperties(old: DeployedResource, now: DeployedResource): string[] {
  const { Replicas: _, ...oldTable } = old.Properties ?? {};
  const { Replicas: __, ...newTable } = now.Properties ?? {};
  const newReplicas = replicasOf(now);
  const ofReplicas = [...replicasOf(old)].flatMap(([region, replica]) =>
    differingKeys(replica, newReplicas.get(region) ?? replica).map((name) => `Replicas.${name}`),
  );
  return [...new Set([...differingKeys(oldTable, newTable), ...ofReplicas])];
}

function differingKeys(old: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): string[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
  return names.filter((name) => !isDeepStrictEqual(old[name], now[name]));
}

interface Replica extends Readonly<Record<string, unknown>> {
  readonly Region: unknown;
  readonly DeletionProtectionEnabled?: boolean;
}

function replicasOf({ Properties = {} }: DeployedResource): ReadonlyMap<string, Replica> {
  return new Map(
    ((Properties.Replicas ?? []) as Replica[]).map((replica) => [JSON.stringify(replica.Region), replica]),
  );
}

function replicaLosses(old: DeployedResource, now: DeployedResource): string[] {
  const newReplicas = replicasOf(now);
  return [...replicasOf(old)].flatMap(([region, replica]) => {
    const kept = newReplicas.get(region);
    if (!kept) return [`loses its replica in ${region}, and with it that copy of all data`];
    return replica.DeletionProtectionEnabled === true && kept.DeletionProtectionEnabled !== true
      ? ['loses its deletion protection']
      : [];
  });
}

/** CloudFormation adds or removes only one index per update. After an index is removed, queries that use it fail. */
function indexChanges(old: DeployedResource, now: DeployedResource): string[] {
  const indexes = ({ Properties = {} }: DeployedResource) =>
    new Map(
      ((Properties.GlobalSecondaryIndexes ?? []) as { IndexName: string }[]).map((index) => [index.IndexName, index]),
    );
  const [oldIndexes, newIndexes] = [indexes(old), indexes(now)];
  const removed = [...oldIndexes.keys()].filter((name) => !newIndexes.has(name));
  const added = [...newIndexes.keys()].filter((name) => !oldIndexes.has(name));
  const redefined = [...newIndexes]
    .filter(([name, index]) => oldIndexes.has(name) && !isDeepStrictEqual(oldIndexes.get(name), index))
    .map(([name]) => name);
  return [
    ...(removed.length > 0 ? [`loses index ${removed.join(' and ')}`] : []),
    ...(redefined.length > 0
      ? [`changes the definition of index ${redefined.join(' and ')}, which must then be created again`]
      : []),
    ...(removed.length + added.length > 1
      ? [
          `changes ${removed.length + added.length} indexes (${[...removed, ...added].join(', ')}), but CloudFormation changes one per update`,
        ]
      : []),
  ];
}
