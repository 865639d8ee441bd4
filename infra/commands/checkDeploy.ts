/**
 * `npm run check:deploy`: compares this source with the deployed stack, and reads the AWS account, before a deployment.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { configuredStack, deploymentRegion, projectContext } from '../build/projectContext.ts';
import { readSettings } from '../settings/settings.ts';
import { needsOf } from './account/needs.ts';
import { readAccount } from './account/readAccount.ts';
import { type AccountCheck, accountReport, checkReadings } from './account/rules.ts';
import { explanation, parseArguments, runCommand } from './operator.ts';
import { nestedIn, synthesisedTemplates, type Template } from './synthesisedTemplates.ts';
import { checkUpdate, type Finding, type StackTemplates } from './templateChanges.ts';

const USAGE = `Usage: npm run check:deploy [-- [--stack <stack>] [--after <dir>] [--before <dir>] [--allow <id>]...]

Compares the deployed templates with those of this source, including nested stacks. Fails if the update would replace or
delete a resource with state: the table, a secret, a queue or the API with its address, or if it would fail because a
route moves to another stack. Changes nothing.

Also reads the account and the region: concurrent executions of Lambda, limits of API Gateway, vector indexes of tables, and with
the settings in cdk.json the state of SES and the access to Bedrock models. Prints what is missing and where to ask for it.

  --stack   the CloudFormation stack (default: the setting stackName, ${configuredStack()})
  --after   an output folder of cdk synth, such as cdk.out (default: this source with the settings of cdk.json)
  --before  an output folder of cdk synth, such as that of the version before (default: the deployed templates)
  --allow   the id of a resource whose loss you accept, as this command prints it`;

export type Deployed = Pick<CloudFormationClient, 'send'>;

/**
 * Returns the report on the templates, and the report on the account. Throws if either shows that the deployment would
 * fail or lose state, or if the templates cannot be read.
 */
export async function checkDeployment(
  args: string[],
  client?: Deployed,
  check: () => Promise<AccountCheck> = checkAccount,
): Promise<string> {
  parse(args);
  const [account, templates] = await Promise.allSettled([check(), run(args, client)]);
  if (account.status === 'rejected') throw account.reason;
  const report = templates.status === 'rejected' && account.value.unreadAccount ? [] : [accountReport(account.value)];
  if (templates.status === 'rejected')
    throw new Error([explanation(templates.reason as Error), ...report].join('\n\n'));
  const text = [templates.value, ...report].join('\n\n');
  if (account.value.findings.some(({ isRefused }) => isRefused)) throw new Error(text);
  return text;
}

export async function checkAccount(read = readAccount): Promise<AccountCheck> {
  const context = projectContext();
  const settings = readSettings((name) => context[name]);
  const { sourceTemplates } = await import('./sourceTemplates.ts');
  const needs = needsOf(await sourceTemplates(settings), settings);
  return checkReadings(needs, await read(needs));
}

function parse(args: string[]) {
  return parseArguments(USAGE, {
    args,
    options: {
      stack: { type: 'string', default: configuredStack() },
      after: { type: 'string' },
      before: { type: 'string' },
      allow: { type: 'string', multiple: true, default: [] },
    },
  }).values;
}

export async function run(args: string[], client?: Deployed): Promise<string> {
  const { stack, after, before, allow } = parse(args);
  const deployed =
    before === undefined
      ? await deployedTemplates(client ?? (await cloudFormation()), stack)
      : await synthesisedTemplates(before);
  if (!deployed) return `Stack ${stack} does not exist, so the deployment can lose nothing.`;
  const { refused, deleted } = checkUpdate(
    deployed,
    after === undefined ? await templatesOfThisSource() : await synthesisedTemplates(after),
    new Set(allow),
  );
  const report = deleted.length > 0 ? `The update deletes:\n${lines(deleted)}\n\n` : '';
  if (refused.length === 0) return `${report}No resource with state is replaced or deleted.`;
  throw new Error(
    `${report}Refused:\n${lines(refused)}\n\nKeep the deployed logical ids and properties, or pass --allow <id> for each loss that you accept. See "Upgrading" in infra/README.md.`,
  );
}

function lines(findings: readonly Finding[]): string {
  return findings.map(({ id, type, text }) => `  ${id} (${type}) ${text}`).join('\n');
}

async function templatesOfThisSource(): Promise<StackTemplates> {
  const { synthesise } = await import('../build/synthesise.ts');
  const outdir = await mkdtemp(join(tmpdir(), 'check-deploy-'));
  try {
    await synthesise({ outdir, region: deploymentRegion() });
    return await synthesisedTemplates(outdir);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

async function deployedTemplates(client: Deployed, stack: string): Promise<StackTemplates | undefined> {
  const { GetTemplateCommand, ListStackResourcesCommand } = await import('@aws-sdk/client-cloudformation');
  const load = async (name: string): Promise<StackTemplates> => {
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName: name, TemplateStage: 'Original' }));
    // A stack whose first change set was never executed has no template.
    const { Resources: resources } = JSON.parse(TemplateBody || '{"Resources":{}}') as Template;
    const ids = nestedIn(resources);
    const physical = new Map<string, string>();
    for (let NextToken: string | undefined, more = ids.length > 0; more; more = NextToken !== undefined) {
      const page = await client.send(
        new ListStackResourcesCommand({ StackName: name, ...(NextToken !== undefined && { NextToken }) }),
      );
      for (const { LogicalResourceId = '', PhysicalResourceId } of page.StackResourceSummaries ?? [])
        if (PhysicalResourceId) physical.set(LogicalResourceId, PhysicalResourceId);
      ({ NextToken } = page);
    }
    const nested = new Map<string, StackTemplates>();
    // Nested stacks are read one after the other, because CloudFormation throttles parallel reads.
    for (const id of ids) {
      const arn = physical.get(id);
      if (arn !== undefined) nested.set(id, await load(arn));
    }
    return { resources, nested };
  };
  try {
    return await load(stack);
  } catch (error) {
    if ((error as Error).message === `Stack with id ${stack} does not exist`) return undefined;
    throw error;
  }
}

async function cloudFormation(): Promise<Deployed> {
  const { CloudFormationClient: Client } = await import('@aws-sdk/client-cloudformation');
  return new Client({ maxAttempts: 8 });
}

if (import.meta.main) await runCommand(USAGE, (args) => checkDeployment(args));
