import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretModel } from './assembly/model.ts';
import { errorAnswer, jsonAnswer, type Service } from './iam/awsService.ts';
import { writePrivateJson } from './privateFile.ts';

export interface Secret {
  readonly arn: string;
  readonly name: string;
  /** Each run replaces the value of the heartbeat's secret, and `secrets.json` keeps the generated one. */
  value: string;
}

/**
 * Generates missing values and stores them in `secrets.json`. Without this file, encrypted data in the table cannot be
 * decrypted any more.
 */
export async function openSecrets(dataDir: string, models: readonly SecretModel[]): Promise<Secret[]> {
  const file = join(dataDir, 'secrets.json');
  const stored = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Record<string, string>) : {};
  const secrets = models.map(({ arn, name, properties }) => ({
    arn,
    name,
    value: stored[arn] ?? firstValue(properties),
  }));
  const missing = secrets.filter(({ arn }) => stored[arn] === undefined);
  for (const { arn, value } of missing) stored[arn] = value;
  if (missing.length > 0) await writePrivateJson(file, stored);
  return secrets;
}

export function secretsManager(secrets: readonly Secret[]): Service {
  const find = (id: unknown) => secrets.find(({ arn, name }) => id === arn || id === name);
  return {
    accesses: (operation, { SecretId }) => [
      { action: `secretsmanager:${operation}`, resource: find(SecretId)?.arn ?? String(SecretId) },
    ],
    answer({ operation, input }) {
      if (operation !== 'GetSecretValue')
        return errorAnswer(400, 'UnknownOperationException', `The local Secrets Manager has no ${operation}`);
      const secret = find(input.SecretId);
      if (!secret)
        return errorAnswer(400, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
      return jsonAnswer({
        ARN: secret.arn,
        Name: secret.name,
        SecretString: secret.value,
        VersionId: 'local',
        VersionStages: ['AWSCURRENT'],
      });
    },
  };
}

interface Generate {
  readonly PasswordLength?: number;
  readonly ExcludeCharacters?: string;
  readonly ExcludeLowercase?: boolean;
  readonly ExcludeNumbers?: boolean;
  readonly ExcludePunctuation?: boolean;
  readonly ExcludeUppercase?: boolean;
  readonly IncludeSpace?: boolean;
  readonly SecretStringTemplate?: string;
  readonly GenerateStringKey?: string;
}

function firstValue({ SecretString, GenerateSecretString }: SecretModel['properties']): string {
  if (typeof SecretString === 'string') return SecretString;
  const options = (GenerateSecretString ?? {}) as Generate;
  const password = generatePassword(options);
  if (options.GenerateStringKey === undefined) return password;
  return JSON.stringify({
    ...(JSON.parse(options.SecretStringTemplate ?? '{}') as object),
    [options.GenerateStringKey]: password,
  });
}

function generatePassword(options: Generate): string {
  const alphabet = [
    options.ExcludeLowercase ? '' : 'abcdefghijklmnopqrstuvwxyz',
    options.ExcludeUppercase ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    options.ExcludeNumbers ? '' : '0123456789',
    options.ExcludePunctuation ? '' : '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    options.IncludeSpace ? ' ' : '',
  ]
    .flatMap((characters) => Array.from(characters))
    .filter((character) => !options.ExcludeCharacters?.includes(character));
  return Array.from({ length: options.PasswordLength ?? 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
