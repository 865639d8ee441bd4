import { readStatements, type Statement } from '../iam/iam.ts';
import { roleArn } from '../iam/identity.ts';
import { StartError } from '../startError.ts';
import type { Resource } from './template.ts';

/** Allows writing logs, which every local function may. */
const BASIC_EXECUTION = 'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';

export type Roles = ReadonlyMap<string, readonly Statement[]>;

export function rolesOf(roles: readonly Resource[], policies: readonly Resource[]): Roles {
  const statements = new Map<string, Statement[]>();
  for (const { path, arn, properties } of roles) {
    const unsupported = ((properties.ManagedPolicyArns ?? []) as string[]).find(
      (managed) => managed !== BASIC_EXECUTION,
    );
    if (unsupported)
      throw new StartError(
        `The role ${path} has the managed policy ${unsupported}, which the local run does not support.`,
      );
    const inline = (properties.Policies ?? []) as { PolicyDocument: unknown }[];
    statements.set(
      arn,
      inline.flatMap(({ PolicyDocument }) => readStatements(PolicyDocument, path)),
    );
  }
  for (const { path, properties } of policies) {
    for (const role of (properties.Roles ?? []) as string[])
      statements.get(roleArn(role))?.push(...readStatements(properties.PolicyDocument, path));
  }
  return statements;
}
