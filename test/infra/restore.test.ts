import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { run, streamCommands, tableCommands } from '../../infra/commands/restore.ts';
import { sourceTemplates } from '../../infra/commands/sourceTemplates.ts';
import type { StackTemplates } from '../../infra/commands/templateChanges.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

/**
 * A script that replaces the AWS CLI. It records each call and returns a response from a file, which is named by the
 * first words of the command. A command fails once if it has a failure file.
 */
const AWS = `#!/usr/bin/env bash
dir=$(dirname "$0")
printf '%s\\0' "$@" >> "$dir/calls"
printf '\\n' >> "$dir/calls"
while IFS='|' read -r words status answer; do
  case "$*" in "$words"*)
    [ "$status" = 0 ] || sed -i 1d "$dir/answers"
    [ -z "$answer" ] || printf "$answer\\n"
    exit "$status";;
  esac
done < "$dir/answers"
`;

const scratch = temporaryFolder();
let templates: StackTemplates;
beforeAll(async () => {
  templates = await sourceTemplates();
  writeFileSync(join(scratch, 'aws'), AWS, { mode: 0o755 });
});
beforeEach(() => writeFileSync(join(scratch, 'calls'), ''));

/** Runs a script with the fake AWS CLI. */
function bash(
  commands: string,
  answers: Readonly<Record<string, string>>,
  failing?: string,
): { readonly status: number | null; readonly stderr: string } {
  writeFileSync(
    join(scratch, 'answers'),
    [
      ...(failing === undefined ? [] : [`${failing}|1|`]),
      ...Object.entries(answers).map(([words, answer]) => `${words}|0|${answer}`),
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );
  const { status, stderr } = spawnSync('bash', ['--norc', '-c', commands], {
    env: { PATH: `${scratch}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, stderr };
}

/** Runs a script with the fake AWS CLI. Returns the recorded calls, each with its words and options. */
function calls(...[commands, answers, failing]: Parameters<typeof bash>): {
  readonly command: string;
  readonly options: Record<string, any>;
}[] {
  expect(bash(commands, answers, failing)).toEqual({ status: 0, stderr: '' });
  return readFileSync(join(scratch, 'calls'), 'utf8')
    .split('\0\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [service = '', operation = '', ...words] = line.split('\0');
      const command = [service, operation, ...(words[0]?.startsWith('--') ? [] : words.splice(0, 1))].join(' ');
      const options = words
        .map((word, index) => [word, words[index + 1] ?? ''] as const)
        .filter(([word]) => word.startsWith('--'));
      return {
        command,
        options: Object.fromEntries(
          options.map(([name, value]) => [name.slice(2), /^[[{]/.test(value) ? JSON.parse(value) : value]),
        ),
      };
    });
}

const names = { 'cloudformation describe-stacks': 'the-table' };
const table = () => templates.resources.Table!.Properties as Record<string, any>;
const replica = () => table().Replicas[0] as Record<string, any>;

describe('restore table', () => {
  const SKELETON = 'dynamodb update-table --generate-cli-skeleton';
  const DESCRIBE = 'dynamodb describe-table --table-name the-table --query';
  const ready = (index: string) =>
    `${DESCRIBE} Table.VectorIndexes[?IndexName=='${index}' && IndexStatus=='ACTIVE' && Backfilling != \`true\`]`;
  const answers = {
    ...names,
    [SKELETON]: '{"VectorIndexUpdates":[]}',
    'dynamodb list-backups': 'arn:of:the:backup',
    [ready('review')]: 'review',
    [ready('content')]: 'content',
    [DESCRIBE]: 'None',
  };

  test('restores the last backup under the old table name, then sets omitted properties one update at a time', () => {
    const made = calls(tableCommands(templates, 'Mine'), answers).filter(
      ({ options }) => !('generate-cli-skeleton' in options),
    );
    expect(made[0]).toMatchObject({ command: 'cloudformation describe-stacks', options: { 'stack-name': 'Mine' } });
    expect(made.find(({ command }) => command === 'dynamodb restore-table-from-backup')!.options).toEqual({
      'backup-arn': 'arn:of:the:backup',
      'target-table-name': 'the-table',
    });
    const options = Object.assign(
      {},
      ...made.filter(({ command }) => command.startsWith('dynamodb update-')).map((each) => each.options),
    ) as Record<string, any>;
    expect(options['time-to-live-specification']).toEqual(table().TimeToLiveSpecification);
    expect(options['point-in-time-recovery-specification']).toEqual(replica().PointInTimeRecoverySpecification);
    expect(options['stream-specification']).toEqual({ StreamEnabled: true, ...table().StreamSpecification });
    expect(options).toHaveProperty('deletion-protection-enabled');
    made.forEach(({ command }, index) => {
      if (['dynamodb update-table', 'dynamodb restore-table-from-backup'].includes(command))
        expect(made[index + 1]!.command).toBe('dynamodb wait table-exists');
    });
  });

  test('creates the vector indexes of the template, with their attribute definitions', () => {
    const made = calls(tableCommands(templates, 'Mine'), answers).filter(
      ({ options }) => 'vector-index-updates' in options,
    );
    expect(made.map(({ options }) => options['vector-index-updates'])).toEqual(
      table().VectorIndexes.map((Create: object) => [{ Create }]),
    );
    for (const { options } of made) {
      const declared = options['attribute-definitions'].map(
        ({ AttributeName }: { AttributeName: string }) => AttributeName,
      );
      expect(declared).toEqual(
        options['vector-index-updates'][0].Create.SearchSchema.map(
          ({ AttributeName }: { AttributeName: string }) => AttributeName,
        ),
      );
    }
  });

  test('waits until each vector index is ready before it creates the next', () => {
    const steps = (commands: string, given: Record<string, string>, failing?: string) =>
      calls(commands, given, failing).flatMap(({ options }) => {
        const update = options['vector-index-updates']?.[0].Create.IndexName;
        const [, awaited] = /IndexName=='(\w+)'/.exec(options.query ?? '') ?? [];
        return update ? [`create ${update}`] : awaited ? [`await ${awaited}`] : [];
      });
    const commands = tableCommands(templates, 'Mine').replace('sleep 20', ':').replaceAll('echo "Waiting', ': "');
    expect(steps(commands, answers)).toEqual(['create review', 'await review', 'create content', 'await content']);
    writeFileSync(join(scratch, 'calls'), '');
    expect(steps(commands, { ...answers, [DESCRIBE]: 'content' }, ready('content'))).toEqual([
      'await content',
      'await content',
      'create review',
      'await review',
    ]);
  });

  test('stops before the restore if the AWS CLI has no vector indexes, and names the version it needs', () => {
    const { status, stderr } = bash(tableCommands(templates, 'Mine'), { ...answers, [SKELETON]: '{}' });
    expect([status, stderr]).toEqual([
      1,
      'Install a newer AWS CLI: 2.36.16 or later, or 1.45.64 or later of version 1.\n',
    ]);
    expect(readFileSync(join(scratch, 'calls'), 'utf8')).not.toContain('restore-table-from-backup');
  });

  test('waits again if waiting for the restored table times out', () => {
    const script = tableCommands(templates, 'Mine').replace('echo "Waiting for $TABLE"', ':');
    const made = calls(script, answers, 'dynamodb wait');
    const restored = made.findIndex(({ command }) => command === 'dynamodb restore-table-from-backup');
    expect(made.slice(restored + 1, restored + 3).map(({ command }) => command)).toEqual([
      'dynamodb wait table-exists',
      'dynamodb wait table-exists',
    ]);
  });

  test('restores every property of the table, from the backup or by a command', () => {
    const inBackup = ['AttributeDefinitions', 'BillingMode', 'GlobalSecondaryIndexes', 'KeySchema'];
    const setByCommand = ['Replicas', 'StreamSpecification', 'TimeToLiveSpecification', 'VectorIndexes'];
    expect(Object.keys(table()).sort()).toEqual([...inBackup, ...setByCommand].sort());
    expect(Object.keys(replica()).sort()).toEqual([
      'DeletionProtectionEnabled',
      'PointInTimeRecoverySpecification',
      'Region',
    ]);
  });
});

describe('restore stream', () => {
  const answers = {
    ...names,
    'dynamodb describe-table': 'arn:of:the:new',
    'cloudformation describe-stack-resource': 'a-name',
    'sqs get-queue-attributes': 'arn:of:the:queue',
  };

  test('connects the worker to the new stream with the settings of the template, and disconnects it from the old one', () => {
    const made = calls(streamCommands(templates, 'Mine'), {
      ...answers,
      'lambda list-event-source-mappings': 'the-old-mapping\\tarn:of:the:old',
    });
    const [mapping] = Object.values(templates.nested.get('Workers')!.resources).filter(
      ({ Type, Properties }) => Type === 'AWS::Lambda::EventSourceMapping' && Properties?.StartingPosition,
    );
    const { EventSourceArn: _, FunctionName: __, DestinationConfig: ___, ...settings } = mapping!.Properties!;
    expect(made.filter(({ command }) => /^lambda (delete|create)/.test(command))).toEqual([
      { command: 'lambda delete-event-source-mapping', options: { uuid: 'the-old-mapping' } },
      {
        command: 'lambda create-event-source-mapping',
        options: {
          'function-name': 'a-name',
          'event-source-arn': 'arn:of:the:new',
          'destination-config': { OnFailure: { Destination: 'arn:of:the:queue' } },
          'cli-input-json': settings,
        },
      },
    ]);
  });

  test('connects the workers that the settings of the deployment add', async () => {
    const script = await run(['stream'], { live: 'on', streamBatchesPerShard: '7' });
    const created = calls(script, { ...answers, 'lambda list-event-source-mappings': '' }).filter(
      ({ command }) => command === 'lambda create-event-source-mapping',
    );
    expect(created.map(({ options }) => options['cli-input-json'].ParallelizationFactor)).toEqual([7, 7]);
  });

  test('creates a missing connection, and changes nothing if the connection exists', () => {
    const changed = (mappings: string) =>
      calls(streamCommands(templates, 'Mine'), { ...answers, 'lambda list-event-source-mappings': mappings }).filter(
        ({ command }) => /^lambda (delete|create)/.test(command),
      );
    expect(changed('').map(({ command }) => command)).toEqual(['lambda create-event-source-mapping']);
    writeFileSync(join(scratch, 'calls'), '');
    expect(changed('a-mapping\\tarn:of:the:new')).toEqual([]);
  });
});

test('restore table encrypts the restored table with the key of the deployment', async () => {
  const kmsKeyArn = 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000';
  const [command] = (await run(['table', '--stack', 'Staging'], { kmsKeyArn })).match(/^aws .*restore-table.*$/m)!;
  expect(command).toContain(
    `--sse-specification-override '${JSON.stringify({ Enabled: true, SSEType: 'KMS', KMSMasterKeyId: kmsKeyArn })}'`,
  );
  const plain = await run(['table'], { stackName: 'Staging' });
  expect(plain).toContain("STACK='Staging'");
  expect(plain).not.toContain('sse-specification');
});
