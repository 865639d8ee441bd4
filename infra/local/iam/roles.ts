import { readStatements, type Statement } from './iam.ts';
import { roleArn } from './identity.ts';
import { StartError } from '../startError.ts';
import type { Resource } from '../assembly/template.ts';

/** Lets a function write its log, which every function may do here. */
const BASIC_EXECUTION = 'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';

/** The statements of each role, by its ARN. */
export type Roles = ReadonlyMap<string, readonly Statement[]>;

/** What the roles of the templates allow: their inline policies and those attached to them. */
export function rolesOf(roles: readonly Resource[], policies: readonly Resource[]): Roles {
  const statements = new Map<string, Statement[]>();
  for (const { path, arn, properties } of roles) {
    const strange = ((properties.ManagedPolicyArns ?? []) as string[]).find((managed) => managed !== BASIC_EXECUTION);
    if (strange)
      throw new StartError(
        `The role ${path} has the managed policy ${strange}, whose statements the local run does not know.`,
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
