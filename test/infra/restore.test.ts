import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { streamCommands, tableCommands } from '../../infra/commands/restore.ts';
import { sourceTemplates } from '../../infra/commands/sourceTemplates.ts';
import type { StackTemplates } from '../../infra/commands/templateChanges.ts';

/** Stands for the AWS CLI: notes what it is called with, and answers as a file beside it says, by the first words of the command; what fails there, first, fails once. */
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

const scratch = mkdtempSync(join(tmpdir(), 'restore-'));
let templates: StackTemplates;
beforeAll(async () => {
  templates = await sourceTemplates();
  writeFileSync(join(scratch, 'aws'), AWS, { mode: 0o755 });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
beforeEach(() => writeFileSync(join(scratch, 'calls'), ''));

/** Runs commands with a CLI that answers so, and gives what it was asked: the words, and its options by their names. */
function calls(
  commands: string,
  answers: Readonly<Record<string, string>>,
  failing?: string,
): { readonly command: string; readonly options: Record<string, any> }[] {
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
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
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

describe('a deleted table', () => {
  const answers = { ...names, 'dynamodb list-backups': 'arn:of:the:backup', 'dynamodb describe-table': 'None' };

  test('comes back under its name from its last backup, and gets what a restore leaves out, one update after the other', () => {
    const made = calls(tableCommands(templates, 'Mine'), answers);
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
    expect(options['point-in-time-recovery-specification']).toEqual(table().PointInTimeRecoverySpecification);
    expect(options['stream-specification']).toEqual({ StreamEnabled: true, ...table().StreamSpecification });
    expect(options).toHaveProperty('deletion-protection-enabled');
    made.forEach(({ command }, index) => {
      if (['dynamodb update-table', 'dynamodb restore-table-from-backup'].includes(command))
        expect(made[index + 1]!.command).toBe('dynamodb wait table-exists');
    });
  });

  test('gets its vector indexes as the template has them, with the attributes that they need declared', () => {
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

  test('keeps the vector indexes that came back with it', () => {
    const made = calls(tableCommands(templates, 'Mine'), { ...answers, 'dynamodb describe-table': 'content\\treview' });
    expect(made.filter(({ options }) => 'vector-index-updates' in options)).toEqual([]);
  });

  test('is waited for as long as it takes', () => {
    const script = tableCommands(templates, 'Mine').replace('echo "$TABLE is not there yet"', ':');
    const made = calls(script, answers, 'dynamodb wait');
    const restored = made.findIndex(({ command }) => command === 'dynamodb restore-table-from-backup');
    expect(made.slice(restored + 1, restored + 3).map(({ command }) => command)).toEqual([
      'dynamodb wait table-exists',
      'dynamodb wait table-exists',
    ]);
  });

  test('nothing but a restore, an index or a setting of the table is left out: every property of the template is one that a backup has, or is given back', () => {
    const inBackup = ['AttributeDefinitions', 'BillingMode', 'GlobalSecondaryIndexes', 'KeySchema'];
    const givenBack = [
      'DeletionProtectionEnabled',
      'PointInTimeRecoverySpecification',
      'StreamSpecification',
      'TimeToLiveSpecification',
      'VectorIndexes',
    ];
    expect(Object.keys(table()).sort()).toEqual([...inBackup, ...givenBack].sort());
  });
});

describe('what follows the stream', () => {
  const answers = {
    ...names,
    'dynamodb describe-table': 'arn:of:the:new',
    'cloudformation describe-stack-resource': 'a-name',
    'sqs get-queue-attributes': 'arn:of:the:queue',
  };

  test('follows the new one, as the template has it, and no longer the old one', () => {
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

  test('is made to follow when nothing does, and is left alone when it follows already', () => {
    const changed = (mappings: string) =>
      calls(streamCommands(templates, 'Mine'), { ...answers, 'lambda list-event-source-mappings': mappings }).filter(
        ({ command }) => /^lambda (delete|create)/.test(command),
      );
    expect(changed('').map(({ command }) => command)).toEqual(['lambda create-event-source-mapping']);
    writeFileSync(join(scratch, 'calls'), '');
    expect(changed('a-mapping\\tarn:of:the:new')).toEqual([]);
  });
});
