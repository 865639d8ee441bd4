import { beforeAll, describe, expect, test } from '@jest/globals';
import { AwsSolutionsChecks } from 'cdk-nag';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { synthesisedTemplates } from '../../infra/commands/synthesisedTemplates.ts';
import { checkUpdate, type StackTemplates } from '../../infra/commands/templateChanges.ts';
import { appOf, resources, synthesised, type Template, templateTexts } from './assembly.ts';
import { greedy } from './endpoints.ts';
import { arnOf } from './expected.ts';

interface Deployment {
  /** The text of each template, by file name. */
  readonly texts: ReadonlyMap<string, string>;
  readonly templates: StackTemplates;
}

async function deploymentOf(heartbeat: 'on' | 'off', { withWorker = true } = {}): Promise<Deployment> {
  const workers = registeredWorkers().filter(({ requires }) => withWorker || requires !== 'heartbeat');
  const { outdir } = synthesised([greedy], { heartbeat }, { workers });
  return { texts: templateTexts(outdir), templates: await synthesisedTemplates(outdir) };
}

let off: Deployment;
let on: Deployment;
beforeAll(async () => {
  off = await deploymentOf('off');
  on = await deploymentOf('on');
});

const resourcesOf = ({ texts }: Deployment, type?: string) =>
  resources(
    [...texts.values()].map((text) => JSON.parse(text) as Template),
    type,
  );

describe('the setting heartbeat', () => {
  test('leaves the templates unchanged if it is off', async () => {
    expect(off.texts).toEqual((await deploymentOf('off', { withWorker: false })).texts);
    expect([...off.texts.values()].join()).not.toMatch(/Heartbeat|HEARTBEAT/);
  });

  test('adds a function with a schedule, a secret and two alarms if it is on', () => {
    const before = new Set(resourcesOf(off).map(([id]) => id));
    const added = resourcesOf(on).filter(([id]) => !before.has(id));
    expect(added.map(([id, { Type }]) => (Type === 'AWS::CloudWatch::Alarm' ? id.slice(0, -8) : Type)).sort()).toEqual([
      'AWS::Events::Rule',
      'AWS::IAM::Role',
      'AWS::Lambda::EventInvokeConfig',
      'AWS::Lambda::Function',
      'AWS::Lambda::Permission',
      'AWS::Logs::LogGroup',
      'AWS::SecretsManager::Secret',
      'HeartbeatFails',
      'HeartbeatStopped',
    ]);
    const rule = added.find(([, { Type }]) => Type === 'AWS::Events::Rule')!;
    expect(rule[1].Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ Arn: arnOf('Heartbeat') }],
    });
  });

  test('gives the function its secret, the public URL and no access to the table', () => {
    const [, { Properties }] = resourcesOf(on).find(([id]) => id === 'Heartbeat')!;
    expect(Object.keys(Properties.Environment.Variables).sort()).toEqual([
      'HEARTBEAT_SECRET_ARN',
      'PUBLIC_URL',
      'SERVICE_NAME',
    ]);
    expect(JSON.stringify(Properties.Environment.Variables.HEARTBEAT_SECRET_ARN)).toContain('HeartbeatCredentials');
    const [, role] = resourcesOf(on).find(([id]) => id === Properties.Role['Fn::GetAtt'][0])!;
    const statements = role.Properties.Policies[0].PolicyDocument.Statement as { Action: string | string[] }[];
    expect(statements.map(({ Action }) => Action)).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      'secretsmanager:GetSecretValue',
    ]);
    expect(JSON.stringify(statements[1])).toContain('HeartbeatCredentials');
  });

  test('creates a secret without credentials. Deleting the stack deletes the secret', () => {
    const [, secret] = resourcesOf(on).find(([id]) => id === 'HeartbeatCredentials')!;
    expect(JSON.parse(secret.Properties.SecretString)).toEqual({ apiKey: '', authToken: '' });
    expect(secret.DeletionPolicy ?? 'Delete').toBe('Delete');
    expect(Object.keys(JSON.parse(on.texts.get('CollaborationBackend.template.json')!).Outputs)).toContain(
      'HeartbeatSecretArn',
    );
  });

  test('can be switched on and updated freely, and switched off only if the operator allows the loss of its secret', () => {
    expect(checkUpdate(off.templates, on.templates).refused).toEqual([]);
    expect(checkUpdate(on.templates, on.templates).refused).toEqual([]);
    expect(checkUpdate(on.templates, off.templates).refused.map(({ id }) => id)).toEqual(['HeartbeatCredentials']);
    expect(checkUpdate(on.templates, off.templates, new Set(['HeartbeatCredentials'])).refused).toEqual([]);
  });

  test('passes cdk-nag', () => {
    const { app } = appOf([greedy], { heartbeat: 'on' }, { workers: registeredWorkers() });
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
  });
});
