/**
 * `npm run restore`: prints the commands that restore a deleted table with the settings of the template. Does not run
 * them.
 */
import { configuredStack, projectContext } from '../build/projectContext.ts';
import { readSettings, stackOf } from '../settings/settings.ts';
import { parseArguments, runCommand } from './operator.ts';
import { sourceTemplates } from './sourceTemplates.ts';
import type { DeployedResource, StackTemplates } from './templateChanges.ts';

const CLI_VERSIONS = '2.36.16 or later, or 1.45.64 or later of version 1';

const USAGE = `Usage: npm run -s restore -- table|stream [--stack <stack>]

Prints a shell script for the AWS CLI. Runs nothing. See infra/RESTORE.md.

  table     restores a deleted table under its old name, and sets the settings that a restore omits. Needs AWS CLI
            ${CLI_VERSIONS}
  stream    connects the worker of the deleted table's stream to the new stream
  --stack   the CloudFormation stack (default: the setting stackName, ${configuredStack()})`;

interface VectorIndex {
  readonly IndexName: string;
  readonly SearchSchema: readonly { readonly AttributeName: string }[];
}

interface TableProperties {
  readonly AttributeDefinitions: readonly { readonly AttributeName: string }[];
  readonly Replicas: readonly [
    {
      readonly DeletionProtectionEnabled?: boolean;
      readonly PointInTimeRecoverySpecification: object;
      readonly SSESpecification?: { readonly KMSMasterKeyId: string };
    },
  ];
  readonly StreamSpecification: object;
  readonly TimeToLiveSpecification: object;
  readonly VectorIndexes: readonly VectorIndex[];
}

interface MappingProperties {
  readonly DestinationConfig?: unknown;
  readonly EventSourceArn?: unknown;
  readonly FunctionName: { readonly Ref: string };
}

interface TemplateResource {
  readonly id: string;
  readonly properties: unknown;
}

export function tableCommands({ resources }: StackTemplates, stack: string): string {
  const table = singleResource(resources, ({ Type }) => Type === 'AWS::DynamoDB::GlobalTable')
    .properties as TableProperties;
  const [replica] = table.Replicas;
  const key = replica.SSESpecification;
  const encryption =
    key === undefined ? '' : ` --sse-specification-override ${json({ Enabled: true, SSEType: 'KMS', ...key })}`;
  return script(stack, [
    [
      `Stop if the AWS CLI does not know vector indexes. It needs version ${CLI_VERSIONS}`,
      [
        `if [[ $(aws dynamodb update-table --generate-cli-skeleton) != *VectorIndexUpdates* ]]; then echo 'Install a newer AWS CLI: ${CLI_VERSIONS}.' >&2; exit 1; fi`,
      ],
    ],
    [
      'Restore the table from the backup that DynamoDB made when it was deleted',
      [
        '# The AWS CLI waits for eight minutes at most, but a restore can take longer. Press Ctrl-C at another error than "Max attempts exceeded".',
        'wait_for_table() { until aws dynamodb wait table-exists --table-name "$TABLE"; do echo "Waiting for $TABLE"; done; }',
        'BACKUP=$(aws dynamodb list-backups --backup-type SYSTEM --table-name "$TABLE" --query "sort_by(BackupSummaries, &BackupCreationDateTime)[-1].BackupArn" --output text)',
        `aws dynamodb restore-table-from-backup --backup-arn "$BACKUP" --target-table-name "$TABLE"${encryption}`,
        'wait_for_table',
      ],
    ],
    [
      'Set the settings that a restore omits',
      [
        `aws dynamodb update-time-to-live --table-name "$TABLE" --time-to-live-specification ${json(table.TimeToLiveSpecification)}`,
        `aws dynamodb update-continuous-backups --table-name "$TABLE" --point-in-time-recovery-specification ${json(replica.PointInTimeRecoverySpecification)}`,
        ...update(`--stream-specification ${json({ StreamEnabled: true, ...table.StreamSpecification })}`),
        ...(replica.DeletionProtectionEnabled ? update('--deletion-protection-enabled') : []),
      ],
    ],
    [
      'Create missing vector indexes. DynamoDB builds one index at a time, which takes minutes even for few items',
      [
        String.raw`wait_for_index() { until [ "$(aws dynamodb describe-table --table-name "$TABLE" --query "Table.VectorIndexes[?IndexName=='$1' && IndexStatus=='ACTIVE' && Backfilling != \`true\`].IndexName" --output text)" = "$1" ]; do echo "Waiting for vector index $1"; sleep 20; done; }`,
        'INDEXES=$(aws dynamodb describe-table --table-name "$TABLE" --query "Table.VectorIndexes[].IndexName" --output text)',
        'for INDEX in ${INDEXES/None/}; do wait_for_index "$INDEX"; done',
        ...table.VectorIndexes.flatMap((index) => [
          `if ! grep -qw ${index.IndexName} <<< "$INDEXES"; then`,
          ...update(
            `--attribute-definitions ${json(definitionsOf(index, table))} --vector-index-updates ${json([{ Create: index }])}`,
          ).map((line) => `  ${line}`),
          `  wait_for_index ${index.IndexName}`,
          'fi',
        ]),
      ],
    ],
  ]);
}

export function streamCommands({ resources, nested }: StackTemplates, stack: string): string {
  const streamReaders = [...nested].flatMap(([nestedStack, { resources: nestedResources }]) =>
    findResources(
      nestedResources,
      ({ Type, Properties: { StartingPosition } = {} }) =>
        Type === 'AWS::Lambda::EventSourceMapping' && StartingPosition !== undefined,
    ).map(({ properties }) => ({ nestedStack, properties: properties as MappingProperties })),
  );
  const deadLetters = singleResource(
    resources,
    ({ Type }, id) => Type === 'AWS::SQS::Queue' && id.startsWith('Stream'),
  );
  return script(stack, [
    [
      'Connect the worker to the new stream',
      [
        'resource() { aws cloudformation describe-stack-resource --stack-name "$1" --logical-resource-id "$2" --query StackResourceDetail.PhysicalResourceId --output text; }',
        'STREAM=$(aws dynamodb describe-table --table-name "$TABLE" --query Table.LatestStreamArn --output text)',
        `QUEUE=$(aws sqs get-queue-attributes --queue-url "$(resource "$STACK" ${deadLetters.id})" --attribute-names QueueArn --query Attributes.QueueArn --output text)`,
        ...streamReaders.flatMap(({ nestedStack, properties }) => [
          `FUNCTION=$(resource "$(resource "$STACK" ${nestedStack})" ${properties.FunctionName.Ref})`,
          'MAPPINGS=$(aws lambda list-event-source-mappings --function-name "$FUNCTION" --query "EventSourceMappings[].[UUID, EventSourceArn]" --output text)',
          'while read -r UUID SOURCE; do',
          '  if [ -n "$UUID" ] && [ "$SOURCE" != "$STREAM" ]; then aws lambda delete-event-source-mapping --uuid "$UUID"; fi',
          'done <<< "$MAPPINGS"',
          'if ! grep -qF "$STREAM" <<< "$MAPPINGS"; then',
          '  aws lambda create-event-source-mapping --function-name "$FUNCTION" --event-source-arn "$STREAM"' +
            ` --destination-config '{"OnFailure":{"Destination":"'"$QUEUE"'"}}' --cli-input-json ${json(settingsOf(properties))}`,
          'fi',
        ]),
      ],
    ],
  ]);
}

function script(stack: string, sections: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  const table = [
    `STACK='${stack}'`,
    'TABLE=$(aws cloudformation describe-stacks --stack-name "$STACK" --query "Stacks[0].Outputs[?OutputKey==\'TableName\'].OutputValue" --output text)',
  ];
  return ['set -euo pipefail', ...table, ...sections.flatMap(([title, lines]) => ['', `# ${title}.`, ...lines])].join(
    '\n',
  );
}

/** DynamoDB allows one change of a table at a time, so the commands wait until it is done. */
function update(change: string): string[] {
  return [`aws dynamodb update-table --table-name "$TABLE" ${change}`, 'wait_for_table'];
}

function definitionsOf({ SearchSchema }: VectorIndex, { AttributeDefinitions }: TableProperties): object[] {
  const names = new Set(SearchSchema.map(({ AttributeName }) => AttributeName));
  return AttributeDefinitions.filter(({ AttributeName }) => names.has(AttributeName));
}

function settingsOf({
  EventSourceArn: _,
  FunctionName: __,
  DestinationConfig: ___,
  ...settings
}: MappingProperties): object {
  return settings;
}

function json(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", `'"'"'`)}'`;
}

function findResources(
  resources: StackTemplates['resources'],
  isWanted: (resource: DeployedResource, id: string) => boolean,
): TemplateResource[] {
  return Object.entries(resources)
    .filter(([id, resource]) => isWanted(resource, id))
    .map(([id, { Properties = {} }]) => ({ id, properties: Properties }));
}

function singleResource(...[resources, isWanted]: Parameters<typeof findResources>): TemplateResource {
  const [resource, ...more] = findResources(resources, isWanted);
  if (!resource || more.length > 0)
    throw new Error(`The template must have exactly one resource for which ${String(isWanted)}`);
  return resource;
}

export async function run(args: string[], context = projectContext()): Promise<string> {
  const commands: Readonly<Record<string, typeof tableCommands>> = { table: tableCommands, stream: streamCommands };
  const {
    values: { stack },
    positionals: [part = '', ...more],
  } = parseArguments(USAGE, {
    args,
    options: { stack: { type: 'string', default: stackOf(context) } },
    allowPositionals: true,
  });
  const execute = Object.hasOwn(commands, part) ? commands[part] : undefined;
  if (!execute || more.length > 0) throw new Error(USAGE);
  return execute(await sourceTemplates(readSettings((name) => context[name])), stack);
}

if (import.meta.main) await runCommand(USAGE, (args) => run(args));
